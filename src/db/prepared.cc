#include "db/prepared.h"

#include <strings.h>

#include <cstring>

#include "db/columns.h"

namespace roost::db {

namespace {

// SERVER_MORE_RESULTS_EXIST, which Oracle writes with one letter more.
constexpr uint32_t kMoreResults = 8;

MYSQL_BIND bindOf(const Value& value) noexcept {
  MYSQL_BIND bind;
  std::memset(&bind, 0, sizeof bind);
  switch (value.kind()) {
    case Value::Kind::kNull:
      bind.buffer_type = MYSQL_TYPE_NULL;
      return bind;
    case Value::Kind::kInt:
    case Value::Kind::kUint:
      bind.buffer_type = MYSQL_TYPE_LONGLONG;
      bind.is_unsigned = value.kind() == Value::Kind::kUint;
      break;
    case Value::Kind::kDouble:
      bind.buffer_type = MYSQL_TYPE_DOUBLE;
      break;
    case Value::Kind::kText:
    case Value::Kind::kBytes:
      bind.buffer_type = value.kind() == Value::Kind::kText ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
      bind.buffer = const_cast<char*>(value.bytes().data());  // it is only read
      bind.buffer_length = value.bytes().size();
      return bind;
  }
  bind.buffer = const_cast<void*>(value.number());
  return bind;
}

}  // namespace

size_t executeBytes(const Statement& statement) noexcept {
  constexpr size_t kPerValue = 11;  // type, length, or the number itself
  size_t bytes = 64 + statement.text.view().size();
  for (const Value& value : statement.values) bytes += kPerValue + value.bytes().size();
  return bytes;
}

namespace {

// Spaces and brackets before it aside.
bool beginsWith(std::string_view text, std::string_view word) noexcept {
  const size_t start = text.find_first_not_of(" \t\r\n(");
  return start != std::string_view::npos && text.size() - start >= word.size() &&
         strncasecmp(text.data() + start, word.data(), word.size()) == 0;
}

}  // namespace

bool needsPreparing(uint32_t number, std::string_view text) noexcept {
  if (number == ER_UNKNOWN_STMT_HANDLER || number == ER_NEED_REPREPARE) return true;
  return number == kNewMetadata && beginsWith(text, "select");
}

Error tooLarge() {
  return {ErrorKind::kTooLarge, ER_NET_PACKET_TOO_LARGE, "08S01",
          "the statement is longer than the server's max_allowed_packet"};
}

Prepared::Prepared(MYSQL* mysql) : mysql_(mysql), statement_(mysql_stmt_init(mysql)) {}

Prepared::~Prepared() {
  if (statement_ != nullptr) mysql_stmt_close(statement_);
}

MYSQL_STMT* Prepared::release() noexcept {
  return std::exchange(statement_, nullptr);
}

bool Prepared::prepare(std::string_view text) {
  if (statement_ == nullptr || mysql_stmt_prepare(statement_, text.data(), text.size()) != 0) return false;
  return prepared();
}

bool Prepared::execute(const std::vector<Value>& values) {
  return bind(values) && mysql_stmt_execute(statement_) == 0 && executed();
}

bool Prepared::bind(const std::vector<Value>& values) {
  own_error_ = 0;
  session_changed_ = false;
  if (values.size() != mysql_stmt_param_count(statement_)) {
    own_error_ = CR_INVALID_PARAMETER_NO;
    return false;
  }
  binds_.clear();
  for (const Value& value : values) binds_.push_back(bindOf(value));
  return binds_.empty() || mysql_stmt_bind_param(statement_, binds_.data()) == 0;
}

bool Prepared::sameColumns(const MYSQL_FIELD* fields, size_t count) const noexcept {
  if (count != shapes_.size()) return false;
  for (size_t i = 0; i < count; ++i) {
    const MYSQL_FIELD& was = shapes_[i];
    const MYSQL_FIELD& is = fields[i];
    if (is.type != was.type || is.flags != was.flags || is.decimals != was.decimals ||
        is.charsetnr != was.charsetnr || is.length != was.length ||
        is.name_length != columns_[i].name.size() ||
        std::memcmp(is.name, columns_[i].name.data(), is.name_length) != 0) {
      return false;
    }
  }
  return true;
}

void Prepared::describe(const MYSQL_FIELD* fields, size_t count) {
  if (sameColumns(fields, count)) return;
  columns_.clear();
  widths_.clear();
  for (size_t i = 0; i < count; ++i) {
    columns_.push_back(columnOf(fields[i]));
    widths_.push_back(widthOf(fields[i].type));
  }
  shapes_.assign(fields, fields + count);
  cells_.assign(count, Cell{});
}

void Prepared::noteStatus(uint32_t status, uint32_t warnings) noexcept {
  in_transaction_ = (status & SERVER_STATUS_IN_TRANS) != 0;
  session_changed_ |= saysSessionChanged(mysql_, status);
  more_results_ = (status & kMoreResults) != 0;
  warnings_ = warnings;
}

uint64_t Prepared::affectedRows() const noexcept {
  return hasRows() ? 0 : mysql_stmt_affected_rows(statement_);
}

uint64_t Prepared::insertId() const noexcept {
  return mysql_stmt_insert_id(statement_);
}

bool Prepared::skipping() noexcept {
  skipping_ = true;
  noteStatus(mysql_->server_status, mysql_warning_count(mysql_));
  return mysql_stmt_field_count(statement_) != 0;
}

bool Prepared::skipMoreResults() {
  while (more_results_) {
    if (mysql_stmt_next_result(statement_) > 0) return false;
    if (!skipping()) continue;
    Fetched fetched_row = Fetched::kRow;
    while (fetched_row == Fetched::kRow) fetched_row = fetch();
    if (fetched_row == Fetched::kFailed) return false;
  }
  return true;
}

Error Prepared::error() const {
  if (statement_ == nullptr) return {ErrorKind::kLost, CR_OUT_OF_MEMORY, "HY000", "out of memory"};
  if (own_error_ == CR_MALFORMED_PACKET) {
    return {ErrorKind::kLost, own_error_, "HY000", "a row that is longer than its packet"};
  }
  if (own_error_ != 0) {
    return {ErrorKind::kStatement, own_error_, "HY000",
            "as many values as the statement has marks are needed"};
  }
  return mysql_stmt_errno(statement_) != 0 ? errorOf(statement_) : errorOf(mysql_);
}

#if ROOST_MARIADB_CLIENT

struct Prepared::Buffers {};

bool Prepared::prepared() {
  mysql_stmt_attr_set(statement_, STMT_ATTR_CB_USER_DATA, this);
  mysql_stmt_attr_set(statement_, STMT_ATTR_CB_RESULT, reinterpret_cast<const void*>(&Prepared::onCell));
  describe(statement_->fields, statement_->field_count);
  return true;
}

bool Prepared::executed() {
  noteStatus(mysql_->server_status, mysql_->warning_count);
  // The names, which may have changed too, are only there.
  if (mysql_->field_count != 0) describe(mysql_->fields, mysql_->field_count);
  return true;
}

namespace {

// The value that stands at `bytes`, and what follows it; SIZE_MAX where it does not lie before `end`.
struct Found {
  size_t skip;
  size_t size;
};
Found valueAt(int8_t width, const unsigned char* bytes, const unsigned char* end) noexcept {
  constexpr size_t kLongestCount = 9;
  const size_t left = bytes < end ? static_cast<size_t>(end - bytes) : 0;
  if (width != kCounted)
    return {0, static_cast<size_t>(width) <= left ? static_cast<size_t>(width) : SIZE_MAX};
  if (left == 0 || (left < kLongestCount && bytes[0] > 251)) return {0, SIZE_MAX};
  const Counted counted = countedAt(bytes);
  return {counted.skip, counted.size <= left - counted.skip ? counted.size : SIZE_MAX};
}

}  // namespace

// Called for each cell of a row, in order; to be left behind it. Memory beyond the library's buffer is never
// looked at, whatever the server says.
void Prepared::onCell(void* self, unsigned int column, unsigned char** bytes) noexcept {
  auto& prepared = *static_cast<Prepared*>(self);
  Cell ignored;
  Cell& cell = prepared.skipping_ ? ignored : prepared.cells_[column];
  cell = {};
  if (bytes == nullptr || prepared.own_error_ != 0) return;
  const int8_t width =
      prepared.skipping_ ? widthOf(prepared.statement_->fields[column].type) : prepared.widths_[column];
  const Found found = valueAt(width, *bytes, prepared.mysql_->net.buff_end);
  if (found.size == SIZE_MAX) {
    prepared.own_error_ = CR_MALFORMED_PACKET;
    return;
  }
  cell = {reinterpret_cast<const char*>(*bytes + found.skip), found.size};
  *bytes += found.skip + found.size;
}

Fetched Prepared::fetched(int code) noexcept {
  if (code == 0) return own_error_ == 0 ? Fetched::kRow : Fetched::kFailed;
  if (code != MYSQL_NO_DATA) return Fetched::kFailed;
  // The library reads the last packet of a result without keeping what it says.
  const unsigned char* packet = mysql_->net.read_pos;
  if (packet != nullptr && packet[0] == 254) {
    const auto word = [packet](size_t at) { return static_cast<uint32_t>(packet[at] | packet[at + 1] << 8); };
    mysql_->server_status = word(3);
    noteStatus(word(3), word(1));
  }
  return Fetched::kEnd;
}

Fetched Prepared::fetch() {
  return fetched(mysql_stmt_fetch(statement_));
}

#else

// Where Oracle's library puts a row.
struct Prepared::Buffers {
  struct Column {
    std::vector<char> bytes;
    MYSQL_TIME time;
    unsigned long size = 0;
    bool is_null = false;
    bool is_cut = false;
    char packed[12];
  };
  std::vector<Column> columns;
  std::vector<MYSQL_BIND> binds;
};

bool Prepared::prepared() {
  MYSQL_RES* result = mysql_stmt_result_metadata(statement_);
  if (result == nullptr) {
    describe(nullptr, 0);
    return true;
  }
  describe(mysql_fetch_fields(result), mysql_num_fields(result));
  mysql_free_result(result);
  return true;
}

bool Prepared::executed() {
  noteStatus(mysql_->server_status, mysql_warning_count(mysql_));
  return prepared() && (columns_.empty() || bindBuffers());
}

namespace {

bool isMoment(Type type) {
  return type == Type::kDate || type == Type::kTime || type == Type::kDateTime || type == Type::kTimestamp;
}

}  // namespace

bool Prepared::bindBuffers() {
  constexpr size_t kFirstBytes = 256;
  if (buffers_ == nullptr) buffers_ = std::make_unique<Buffers>();
  buffers_->columns.resize(columns_.size());
  buffers_->binds.assign(columns_.size(), MYSQL_BIND{});
  for (size_t i = 0; i < columns_.size(); ++i) {
    Buffers::Column& column = buffers_->columns[i];
    MYSQL_BIND& bind = buffers_->binds[i];
    bind.buffer_type = shapes_[i].type;
    if (bind.buffer_type == MYSQL_TYPE_YEAR) bind.buffer_type = MYSQL_TYPE_SHORT;
    if (bind.buffer_type == MYSQL_TYPE_INT24) bind.buffer_type = MYSQL_TYPE_LONG;
    if (widths_[i] == kCounted && !isMoment(columns_[i].type)) bind.buffer_type = MYSQL_TYPE_BLOB;
    bind.is_unsigned = (shapes_[i].flags & UNSIGNED_FLAG) != 0;
    if (column.bytes.size() < kFirstBytes) column.bytes.resize(kFirstBytes);
    bind.buffer = isMoment(columns_[i].type) ? static_cast<void*>(&column.time) : column.bytes.data();
    bind.buffer_length = isMoment(columns_[i].type) ? sizeof column.time : column.bytes.size();
    bind.length = &column.size;
    bind.is_null = &column.is_null;
    bind.error = &column.is_cut;
  }
  return !mysql_stmt_bind_result(statement_, buffers_->binds.data());
}

// False: a value that did not fit could not be had.
bool Prepared::takeBuffers() {
  bool grown = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Buffers::Column& column = buffers_->columns[i];
    if (column.is_null) {
      cells_[i] = {};
      continue;
    }
    if (isMoment(columns_[i].type)) {
      cells_[i] = {column.packed, packMoment(column.time, columns_[i].type == Type::kTime, column.packed)};
      continue;
    }
    const size_t size = widths_[i] == kCounted ? column.size : static_cast<size_t>(widths_[i]);
    if (size > column.bytes.size()) {
      column.bytes.resize(size);
      buffers_->binds[i].buffer = column.bytes.data();
      buffers_->binds[i].buffer_length = size;
      if (mysql_stmt_fetch_column(statement_, &buffers_->binds[i], static_cast<unsigned int>(i), 0) != 0) {
        return false;
      }
      grown = true;
    }
    cells_[i] = {column.bytes.data(), size};
  }
  return !grown || !mysql_stmt_bind_result(statement_, buffers_->binds.data());
}

Fetched Prepared::fetched(int code) noexcept {
  if (skipping_ && (code == 0 || code == MYSQL_DATA_TRUNCATED)) return Fetched::kRow;
  if (code == 0 || code == MYSQL_DATA_TRUNCATED) return takeBuffers() ? Fetched::kRow : Fetched::kFailed;
  if (code != MYSQL_NO_DATA) return Fetched::kFailed;
  noteStatus(mysql_->server_status, mysql_warning_count(mysql_));
  return Fetched::kEnd;
}

Fetched Prepared::fetch() {
  return fetched(mysql_stmt_fetch(statement_));
}

#endif

}  // namespace roost::db
