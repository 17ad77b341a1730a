#include "tables/write_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/db_problem.h"
#include "tables/read.h"

namespace roost::tables {
namespace {

constexpr size_t kMostAnnouncedBytes = 256 << 10;  // of a message; of more, the number of rows alone
constexpr uint64_t kMostRepresented = 10'000;
constexpr size_t kMostRepresentedBytes = 32 << 20;  // which are put together before they are sent

OutputOptions outputOptions(const ExposedTable& table, const std::string& time_zone) {
  OutputOptions options;
  options.bigint = table.rest->bigint;
  options.decimal = table.rest->decimal;
  options.time_zone = time_zone;
  return options;
}

const Key* wholeKey(const Table& table) noexcept {
  const Key* const key = table.primaryKey();
  return key == nullptr || key->partial ? nullptr : key;
}

Problem tooLarge() {
  return refused(400, "too_many_rows",
                 fmt::format("the rows to return are more than {} bytes", kMostRepresentedBytes),
                 "Ask for return=minimal, or choose fewer rows or columns.");
}

}  // namespace

Problem refused(int status, const char* code, std::string detail, std::string hint) {
  Problem problem;
  problem.status = status;
  problem.code = code;
  problem.detail = std::move(detail);
  problem.hint = std::move(hint);
  return problem;
}

Problem tooManyToReturn(uint64_t most) {
  return refused(400, "too_many_rows", fmt::format("more than {} rows would be written and returned", most),
                 "Ask for return=minimal, or choose fewer rows.");
}

bool isDuplicate(const db::Error& error) noexcept {
  constexpr uint32_t kDuplicate = 1062;
  constexpr uint32_t kDuplicateWithKey = 1586;
  return error.kind == db::ErrorKind::kStatement &&
         (error.number == kDuplicate || error.number == kDuplicateWithKey);
}

bool hasReturning(const Catalog& catalog) noexcept {
  constexpr uint32_t kFirst = 100'500;
  return catalog.is_mariadb && versionNumber(catalog.server_version) >= kFirst;
}

Representation::Representation(const std::vector<OutputColumn>& columns, const OutputOptions& options,
                               Format format, bool single)
    : writer_(columns, options), format_(format), single_(single && format == Format::kJson) {
  if (format_ == Format::kCsv) {
    writer_.csvHeading(text_);
    text_ += "\r\n";
  } else if (format_ == Format::kJson && !single_) {
    text_ += '[';
  }
}

void Representation::add(const db::ResultColumns& columns, const db::Row& row) {
  if (format_ == Format::kCsv) {
    writer_.csvLine(columns, row, text_);
    text_ += "\r\n";
  } else {
    if (format_ == Format::kJson && rows_ != 0) text_ += ',';
    writer_.object(columns, row, text_);
    if (format_ == Format::kNdjson) text_ += '\n';
  }
  ++rows_;
}

std::string Representation::finish() {
  if (format_ == Format::kJson && !single_) text_ += ']';
  return std::move(text_);
}

WriteBase::WriteBase(const ExposedTable& table, const Exposure& exposure, Query query, WriteOptions options)
    : table_(table),
      exposure_(exposure),
      query_(std::move(query)),
      options_(std::move(options)),
      key_(wholeKey(*table.table)) {}

bool WriteBase::next(db::Statement& out) {
  if (failed_) return false;
  if (steps_.empty() && !more()) {
    if (!failed_ && announces() && !announced_) announce();
    if (steps_.empty() && !failed_) complete();
    if (steps_.empty() && !failed_) finishAnnouncement();
    if (steps_.empty() && options_.collect_keys) result_.keys = std::move(keys_);
    if (steps_.empty()) return false;
  }
  return !failed_ && take(out);
}

bool WriteBase::more() {
  while (steps_.empty() && !failed_ && goOn()) {
  }
  return !steps_.empty() && !failed_;
}

bool WriteBase::look(db::Statement& out) {
  const bool begins = !std::exchange(has_looked_, true);
  if (begins && !addLooks()) return false;
  return looking_ = (begins || looking_) && !steps_.empty() && take(out);
}

bool WriteBase::take(db::Statement& out) {
  step_ = std::move(steps_.front());
  steps_.pop_front();
  rows_ = 0;
  columns_ = nullptr;
  keys_before_ = keys_.size();
  if (announcement_) {
    told_before_ = announcement_->rows();
    told_bytes_before_ = announcement_->bytes();
  }
  if (representation_) {
    bytes_before_ = representation_->bytes();
    written_before_ = representation_->rows();
  }
  out = std::move(step_.statement);
  return true;
}

void WriteBase::onRow(const db::Row& row) {
  ++rows_;
  if (failed_) return;
  switch (step_.use) {
    case Use::kKeys:
      return addKey(row, 0);
    case Use::kTag:
      return onTagRow(row);
    case Use::kExists:
      exists_ = true;
      return;
    case Use::kCount: {
      const db::Value number = valueOf((*columns_)[0], row[0]);
      if (number.kind() == db::Value::Kind::kInt) counted_ += static_cast<uint64_t>(number.asInt());
      if (number.kind() == db::Value::Kind::kUint) counted_ += number.asUint();
      return;
    }
    case Use::kWrite:
      if (returns_keys_) addKey(row, key_cells_at_);
      if (announces_returned_) addAnnounced(row);
      [[fallthrough]];
    case Use::kRepresent:
      if (!representation_) return;
      if (representation_->rows() >= mostRows()) {
        fail(tooManyToReturn(mostRows()));
        return;
      }
      // What cannot be taken back is one row, or no more than was sent.
      if (needsTransaction() && representation_->bytes() > kMostRepresentedBytes) {
        fail(tooLarge());
        return;
      }
      return representation_->add(*columns_, row);
    case Use::kAnnounce:
      if (announcement_->bytes() <= kMostAnnouncedBytes) announcement_->add(*columns_, row);
      return;
  }
}

void WriteBase::addKey(const db::Row& row, size_t at) {
  KeyValues values;
  for (size_t i = 0; i < key_->columns.size(); ++i)
    values.push_back(valueOf((*columns_)[at + i], row[at + i]));
  keys_.push_back(std::move(values));
}

void WriteBase::onTagRow(const db::Row& row) {
  exists_ = true;
  if (options_.tag == nullptr) return;
  Representation text(output_, outputOptions(table_, zone()), Format::kJson, true);
  text.add(*columns_, row);
  const size_t last = row.size() - 1;
  const bool has_version = table_.version >= 0 && !row[last].isNull();
  tag_matches_ = options_.tag->matches(text.finish(), has_version ? &(*columns_)[last] : nullptr,
                                       has_version ? &row[last] : nullptr);
}

void WriteBase::onResult(const db::Outcome& outcome) {
  if (failed_ || step_.use != Use::kWrite) return;
  onWritten(step_, outcome, rows_ != 0 ? rows_ : outcome.affected_rows);
}

void WriteBase::forgetRows() {
  keys_.resize(keys_before_);
  if (representation_) representation_->cutTo(written_before_, bytes_before_);
  if (announcement_) announcement_->cutTo(told_before_, told_bytes_before_);
}

bool WriteBase::onError(const db::Error& error) {
  return fail(problemOf(error, &table_, true));
}

bool WriteBase::fail(Problem problem) {
  if (failed_) return false;
  failed_ = true;
  problem_ = std::move(problem);
  steps_.clear();
  return false;
}

bool WriteBase::fail(int status, const char* code, std::string detail) {
  return fail(refused(status, code, std::move(detail)));
}

uint64_t WriteBase::mostRows() const noexcept {
  return table_.config->max_rows != 0 ? table_.config->max_rows : kMostRepresented;
}

bool WriteBase::beginRepresentation(Problem& problem) {
  db::Statement list;
  if (!appendSelect(table_, exposure_, query_, list, output_, problem)) return false;
  if (wantsRows())
    representation_.emplace(output_, outputOptions(table_, zone()), options_.format, options_.single);
  return true;
}

bool WriteBase::appendList(db::Statement& out, bool with_key, Problem& problem) {
  std::vector<OutputColumn> columns;
  if (wantsRows()) {
    if (!appendSelect(table_, exposure_, query_, out, columns, problem)) return false;
  }
  announced_at_ = key_cells_at_ = columns.size();
  if (announces_returned_) {
    if (!columns.empty()) out.text << ",";
    announced_columns_.clear();
    if (!appendSelect(table_, exposure_, Query(), out, announced_columns_, problem)) return false;
    key_cells_at_ += announced_columns_.size();
  }
  returns_keys_ = with_key;
  if (!with_key) return true;
  bool first = key_cells_at_ == 0;
  for (const uint16_t column : key_->columns) {
    if (!first) out.text << ",";
    first = false;
    out.text << table_.table->columns[column].identifier;
  }
  return true;
}

bool WriteBase::appendRead(db::Statement& out, bool with_version) {
  std::vector<OutputColumn> columns;
  Problem problem;
  out.text << "SELECT ";
  if (!appendSelect(table_, exposure_, query_, out, columns, problem)) return fail(std::move(problem));
  if (with_version && table_.version >= 0)
    out.text << "," << table_.table->columns[static_cast<size_t>(table_.version)].identifier;
  out.text << " FROM " << table_.table->identifier;
  return true;
}

void WriteBase::addByKeys(Use use, const db::Statement& head, const Key& key,
                          const std::vector<KeyValues>& keys, bool locks) {
  for (size_t first = 0; first < keys.size(); first += kMostKeys) {
    Step step;
    step.use = use;
    step.statement = head;
    appendKeys(*table_.table, key, keys, first, std::min(kMostKeys, keys.size() - first), step.statement);
    if (locks) step.statement.text << " FOR UPDATE";
    steps_.push_back(std::move(step));
  }
}

void WriteBase::representByKeys() {
  db::Statement head;
  if (keys_.empty() || !appendRead(head, false)) return;
  head.text << " WHERE ";
  addByKeys(Use::kRepresent, head, *key_, keys_, locks());
}

bool WriteBase::endRows(bool reads) {
  switch (ending_) {
    case Ending::kWritten:
      ending_ = Ending::kInside;
      counted_ = 0;
      if (looks_) countInside();
      return true;
    case Ending::kInside:
      ending_ = Ending::kRead;
      if (looks_ && counted_ != keys_.size()) return fail(outsideFixed());
      if (reads) representByKeys();
      return true;
    default:
      return false;
  }
}

void WriteBase::appendFixed(db::Statement& out) {
  Problem problem;
  if (!appendWhere(table_, exposure_, Query(), out, problem)) fail(std::move(problem));
}

// Whole rows as they are now; of those that are gone the keys say enough.
void WriteBase::announce() {
  announced_ = true;
  if (announces_returned_ || !tells_) return;
  if (options_.method == kDelete || keys_.empty() || keys_.size() > kMostAnnounced) return;
  Problem problem;
  db::Statement head;
  head.text << "SELECT ";
  announced_columns_.clear();
  if (!appendSelect(table_, exposure_, Query(), head, announced_columns_, problem)) {
    fail(std::move(problem));
    return;
  }
  head.text << " FROM " << table_.table->identifier << " WHERE ";
  addByKeys(Use::kAnnounce, head, *key_, keys_, locks());
  announcement_.emplace(announced_columns_, outputOptions(table_, zone()), Format::kJson, false);
}

void WriteBase::announceReturned() {
  announces_returned_ = true;
  announcement_.emplace(announced_columns_, outputOptions(table_, zone()), Format::kJson, false);
}

void WriteBase::addAnnounced(const db::Row& row) {
  if (announcement_->bytes() > kMostAnnouncedBytes) return;
  if (rows_ == 1)
    announced_as_.assign(columns_->begin() + static_cast<std::ptrdiff_t>(announced_at_), columns_->end());
  announcement_->add(announced_as_, db::Row(&row[announced_at_], row.size() - announced_at_));
}

void WriteBase::finishAnnouncement() {
  if (!announced_ || !tells_ || keys_.empty() || keys_.size() > kMostAnnounced) return;
  if (announcement_) {
    if (announcement_->bytes() <= kMostAnnouncedBytes) result_.announcement = announcement_->finish();
    return;
  }
  result_.announcement = "[";
  for (const KeyValues& key : keys_) {
    if (result_.announcement.size() > 1) result_.announcement += ',';
    result_.announcement += keyJson(table_, *key_, key);
  }
  result_.announcement += ']';
}

void WriteBase::countInside() {
  if (keys_.empty()) return;
  db::Statement head;
  head.text << "SELECT COUNT(*) FROM " << table_.table->identifier;
  appendFixed(head);
  head.text << " AND ";
  addByKeys(Use::kCount, head, *key_, keys_, locks());
}

void WriteBase::succeed(int status, uint64_t rows) {
  result_.status = status;
  result_.rows = rows;
  const bool counts = options_.preferences.count != Preferences::Count::kNone;
  const std::string total = counts ? std::to_string(rows) : "*";
  const bool has_range = options_.method == kUpdate && rows != 0;
  result_.content_range = has_range ? fmt::format("0-{}/{}", rows - 1, total) : "*/" + total;
  if (!representation_) return;
  result_.has_body = true;
  result_.body = representation_->finish();
}

bool WriteBase::mayWrite(uint64_t rows) {
  const Preferences& asked = options_.preferences;
  if (asked.strict && asked.max_affected && rows > *asked.max_affected) {
    return fail(400, "max_affected_exceeded",
                fmt::format("{} rows would be written, and max-affected is {}", rows, *asked.max_affected));
  }
  if (!options_.single || rows == 1) return true;
  result_.rows = rows;
  return fail(406, "PGRST116", fmt::format("one row was asked for, and {} would be written", rows));
}

// A number that counts writes is counted here; what the server itself changes (ON UPDATE) is left to it.
bool WriteBase::bumpsVersion(const BodyRow& row) const {
  if (table_.version < 0) return false;
  const Column& column = table_.table->columns[static_cast<size_t>(table_.version)];
  const bool counts = column.type == db::Type::kInt || column.type == db::Type::kUint;
  return counts && !column.generated && row.find(static_cast<uint16_t>(table_.version)) == nullptr;
}

void WriteBase::appendBump(db::SqlText& out) const {
  const db::Identifier& name = table_.table->columns[static_cast<size_t>(table_.version)].identifier;
  out << name << "=" << name << "+1";
}

void WriteBase::describeKey(const KeyValues& key) {
  if (table_.key() == nullptr) return;  // it is not shown
  if (result_.status != 201) return;
  const std::string query = keyQuery(*table_.table, *key_, key);
  if (query.empty()) return;
  result_.location = options_.base;
  appendEscaped(table_.name, result_.location);
  result_.location += query;
}

}  // namespace roost::tables
