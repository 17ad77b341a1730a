#include "modules/mysql/represented_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "modules/mysql/read_operation.h"

namespace roost::modules::mysql {
namespace {

using tables::Condition;
using tables::Problem;

// False: a value that no condition can name.
bool textOf(const db::Value& value, std::string& out) {
  switch (value.kind()) {
    case db::Value::Kind::kInt:
      out = std::to_string(value.asInt());
      return true;
    case db::Value::Kind::kUint:
      out = std::to_string(value.asUint());
      return true;
    case db::Value::Kind::kText:
      out = value.bytes();
      return true;
    default:
      return false;
  }
}

// "id in.(5,6)", or "or(and(a.eq.1,b.eq.2),...)", as many as the next power of two. False: no condition can
// name them.
bool conditionOf(const tables::Table& table, const std::vector<std::vector<db::Value>>& keys,
                 Condition& out) {
  const std::vector<uint16_t>& columns = table.primaryKey()->columns;
  size_t padded = 1;
  while (padded < keys.size()) padded *= 2;
  if (columns.size() == 1) {
    out.path.column = table.columns[columns[0]].name;
    out.op = tables::Operator::kIn;
    return std::all_of(keys.begin(), keys.end(), [&out](const std::vector<db::Value>& key) {
      return textOf(key[0], out.values.emplace_back());
    });
  }
  out.kind = Condition::Kind::kOr;
  for (size_t i = 0; i < padded; ++i) {
    Condition& all = out.parts.emplace_back();
    all.kind = Condition::Kind::kAnd;
    for (size_t k = 0; k < columns.size(); ++k) {
      Condition& part = all.parts.emplace_back();
      part.path.column = table.columns[columns[k]].name;
      if (!textOf(keys[std::min(i, keys.size() - 1)][k], part.values.emplace_back())) return false;
    }
  }
  return true;
}

// A write whose rows are read once it is done. The write itself returns their keys alone.
class RepresentedWrite final : public tables::Operation {
 public:
  RepresentedWrite(const tables::ExposedTable& table, const tables::Exposure& exposure, tables::Query reads,
                   bool single, std::unique_ptr<tables::Operation> write)
      : table_(table),
        exposure_(exposure),
        reads_(std::move(reads)),
        single_(single),
        write_(std::move(write)) {}

  const tables::ExposedTable& table() const noexcept override { return table_; }
  bool isWrite() const noexcept override { return true; }
  bool needsTransaction() const noexcept override { return true; }
  bool look(db::Statement& out) override { return write_->look(out); }
  bool next(db::Statement& out) override {
    if (failed()) return false;
    if (read_ == nullptr && (write_->next(out) || write_->failed())) return !write_->failed();
    if (read_ == nullptr && !beginRead()) return false;
    if (read_->next(out)) return true;
    if (!read_->failed()) finish(std::move(read_->result().body));
    return false;
  }
  void onColumns(const db::ResultColumns& columns) override { current().onColumns(columns); }
  void onRow(const db::Row& row) override { current().onRow(row); }
  void onResult(const db::Outcome& outcome) override { current().onResult(outcome); }
  bool onError(const db::Error& error) override { return current().onError(error); }
  size_t bytes() const noexcept override { return current().bytes(); }
  bool failed() const noexcept override { return failed_ || current().failed(); }
  const Problem& problem() const noexcept override { return failed_ ? problem_ : current().problem(); }
  tables::OperationResult& result() noexcept override { return write_->result(); }

 private:
  tables::Operation& current() const noexcept { return read_ != nullptr ? *read_ : *write_; }
  bool fail(Problem problem) {
    failed_ = true;
    problem_ = std::move(problem);
    return false;
  }
  void finish(std::string body) {
    tables::OperationResult& done = write_->result();
    done.has_body = true;
    done.body = std::move(body);
    if (done.status == 204) done.status = 200;
  }
  bool beginRead();

  const tables::ExposedTable& table_;
  const tables::Exposure& exposure_;
  tables::Query reads_;
  const bool single_;
  const std::unique_ptr<tables::Operation> write_;
  std::unique_ptr<tables::Operation> read_;
  bool failed_ = false;
  Problem problem_;
};

bool RepresentedWrite::beginRead() {
  const std::vector<std::vector<db::Value>>& keys = write_->result().keys;
  if (keys.empty()) {
    finish("[]");
    return false;
  }
  const tables::RestLimits& limits = exposure_.config->limits;
  const uint32_t most =
      std::min(limits.max_embed_rows, table_.config->max_rows != 0 ? table_.config->max_rows : UINT32_MAX);
  if (keys.size() > most) {
    return fail({400,
                 "too_many_rows",
                 fmt::format("more than {} rows would be written and returned", most),
                 "Ask for return=minimal, or write fewer rows.",
                 {}});
  }
  Condition named;
  if (!conditionOf(*table_.table, keys, named))
    return fail({400, "no_key", "rows with such a key cannot be read again", {}, {}});
  reads_.where.clear();
  reads_.where.push_back(std::move(named));
  tables::ReadOptions options;
  options.single = single_;
  Problem problem;
  read_ = ReadOperation::plan(table_, exposure_, reads_, options, problem);
  return read_ != nullptr || fail(std::move(problem));
}

bool embeds(const tables::Query& query) {
  return std::any_of(query.select.begin(), query.select.end(),
                     [](const tables::SelectItem& item) { return item.embedded != nullptr; });
}

}  // namespace

std::unique_ptr<tables::Operation> planAnyWrite(const tables::ExposedTable& table,
                                                const tables::Exposure& exposure, tables::Query query,
                                                tables::WriteOptions options, tables::Body body,
                                                Problem& problem) {
  using Return = tables::Preferences::Return;
  const bool is_plain = options.preferences.returns != Return::kRepresentation || !embeds(query) ||
                        options.method == tables::kDelete || options.format != tables::Format::kJson;
  if (is_plain)
    return tables::planWrite(table, exposure, std::move(query), std::move(options), std::move(body), problem);
  tables::Query reads;
  reads.select = std::move(query.select);
  query.select.clear();
  // What cannot be read is refused before anything is written.
  if (ReadOperation::plan(table, exposure, reads, {}, problem) == nullptr) return nullptr;
  const bool single = options.single;
  options.preferences.returns = Return::kMinimal;
  options.collect_keys = true;
  auto write =
      tables::planWrite(table, exposure, std::move(query), std::move(options), std::move(body), problem);
  if (write == nullptr) return nullptr;
  return std::make_unique<RepresentedWrite>(table, exposure, std::move(reads), single, std::move(write));
}

}  // namespace roost::modules::mysql
