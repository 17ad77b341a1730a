#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/pool.h"
#include "http/etag.h"
#include "http/exchange.h"
#include "modules/mysql/batch_request.h"
#include "modules/mysql/body_gatherer.h"
#include "modules/mysql/entity_tag.h"
#include "modules/mysql/operation_runner.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_operation.h"
#include "modules/mysql/read_request.h"
#include "modules/mysql/write_handler.h"
#include "modules/mysql/write_request.h"
#include "tables/output.h"
#include "tables/write.h"

namespace roost::modules::mysql {
namespace {

using tables::Problem;

constexpr std::string_view kSingle = "application/vnd.pgrst.object+json";

uint8_t actionOf(std::string_view method) noexcept {
  if (method == "GET") return tables::kRead;
  if (method == "POST") return tables::kInsert;
  if (method == "PATCH") return tables::kUpdate;
  if (method == "PUT") return tables::kUpsert;
  if (method == "DELETE") return tables::kDelete;
  return 0;
}

// The elements of an If-Match, which stands in a string of its own here.
void readTags(std::string_view text, RowTags& tags) {
  while (!text.empty()) {
    std::string_view element = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), element.size() + 1));
    while (!element.empty() && element.front() == ' ') element.remove_prefix(1);
    while (!element.empty() && element.back() == ' ') element.remove_suffix(1);
    const std::optional<http::EntityTag> tag = http::parseEntityTag(element);
    if (tag && !tag->weak) tags.add(tagStem(tag->opaque));
  }
}

// One transaction of many operations. Owned by its exchange; loop thread.
class BatchWork final : public http::ExchangeListener, private OperationsDone {
 public:
  BatchWork(http::Exchange& exchange, WriteSite site, tables::Preferences preferences)
      : exchange_(exchange),
        site_(std::move(site)),
        preferences_(std::move(preferences)),
        body_(exchange, site_.max_body_bytes) {}

  void onBody(std::string_view piece, bool fin) noexcept override {
    if (runner_ || refused_) return exchange_.consumed(piece.size());
    if (!body_.add(piece)) return refuse(bodyTooLarge(site_.max_body_bytes));
    if (fin) return begin();
    exchange_.consumed(piece.size());
  }
  void onAbort(http::AbortReason) noexcept override {
    if (runner_) site_.pool->cancel(*runner_);
  }

 private:
  void begin() noexcept;
  bool plan(std::vector<std::unique_ptr<tables::Operation>>& operations, Problem& problem);
  std::unique_ptr<tables::Operation> planOne(BatchEntry& entry, Problem& problem);
  std::unique_ptr<tables::Operation> planWrite(BatchEntry& entry, const tables::ExposedTable& table,
                                               tables::Query query, tables::WriteOptions options,
                                               Problem& problem);
  void refuse(const Problem& problem, const ProblemExtra& extra = {}) noexcept {
    refused_ = true;
    replyProblem(exchange_, problem, extra);
  }
  void onOperationsDone() noexcept override;
  void onOperationFailed(size_t index, const Problem& problem, uint32_t retry_after_s) noexcept override;

  http::Exchange& exchange_;
  const WriteSite site_;
  const tables::Preferences preferences_;
  BodyGatherer body_;
  std::vector<BatchEntry> entries_;
  std::vector<std::unique_ptr<RowTags>> tags_;
  bool refused_ = false;
  std::optional<OperationRunner> runner_;
};

void BatchWork::begin() noexcept {
  Problem problem;
  std::vector<std::unique_ptr<tables::Operation>> operations;
  const uint32_t most = site_.exposure->config->limits.max_batch;
  if (!readBatch(body_.text(), site_.base, most, entries_, problem) || !plan(operations, problem))
    return refuse(problem);
  body_.drop();
  runner_.emplace(std::move(operations), preferences_.rollback, static_cast<OperationsDone&>(*this));
  site_.pool->request(*runner_);
}

bool BatchWork::plan(std::vector<std::unique_ptr<tables::Operation>>& operations, Problem& problem) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    std::unique_ptr<tables::Operation> operation = planOne(entries_[i], problem);
    if (operation == nullptr) {
      nameOperation(i, problem);
      return false;
    }
    operations.push_back(std::move(operation));
  }
  return true;
}

std::unique_ptr<tables::Operation> BatchWork::planOne(BatchEntry& entry, Problem& problem) {
  const tables::Exposure& exposure = *site_.exposure;
  const tables::ExposedTable* const table = exposure.find(entry.table);
  if (table == nullptr) {
    problem = {404, "unknown_table", fmt::format("there is no \"{}\" here", entry.table), {}, {}};
    return nullptr;
  }
  const uint8_t action = actionOf(entry.method);
  if (action == 0 || !table->allows(static_cast<tables::Methods>(action))) {
    problem = {400, "method_not_allowed", fmt::format("{} knows no {}", entry.table, entry.method), {}, {}};
    return nullptr;
  }
  tables::Query query;
  tables::WriteOptions options;
  tables::readPreferences(entry.prefer, options.preferences);
  if (options.preferences.strict && !options.preferences.unknown.empty()) {
    problem = {400, "unknown_preference", "this means nothing here: " + options.preferences.unknown, {}, {}};
    return nullptr;
  }
  if (!tables::parseQuery(entry.query, exposure.config->limits, query, problem)) return nullptr;
  options.single = entry.accept == kSingle;
  if (action != tables::kRead) {
    options.method = static_cast<tables::Methods>(action);
    return planWrite(entry, *table, std::move(query), std::move(options), problem);
  }
  tables::ReadOptions reads;
  reads.preferences = options.preferences;
  reads.single = options.single;
  return ReadOperation::plan(*table, exposure, query, reads, problem);
}

std::unique_ptr<tables::Operation> BatchWork::planWrite(BatchEntry& entry, const tables::ExposedTable& table,
                                                        tables::Query query, tables::WriteOptions options,
                                                        Problem& problem) {
  options.base = site_.base;
  options.must_exist = entry.if_match == "*";
  if (!entry.if_match.empty() && !options.must_exist) {
    tags_.push_back(std::make_unique<RowTags>());
    readTags(entry.if_match, *tags_.back());
    options.tag = tags_.back().get();
  }
  options.create_only = entry.if_none_match == "*";
  tables::Body body;
  if (options.method != tables::kDelete) {
    tables::BodyOptions reading;
    reading.columns = &query.columns;
    reading.max_rows = site_.exposure->config->limits.max_body_rows;
    reading.time_zone = site_.exposure->catalog->time_zone;
    reading.missing_is_null = options.preferences.missing == tables::Preferences::Missing::kNull;
    if (!tables::readBody(entry.body, tables::BodyFormat::kJson, table, reading, body, problem))
      return nullptr;
    entry.body = {};
  }
  return tables::planWrite(table, *site_.exposure, std::move(query), std::move(options), std::move(body),
                           problem);
}

void appendResult(const tables::OperationResult& result, std::string& out) {
  out += fmt::format("{{\"status\":{},\"headers\":{{", result.status);
  if (!result.location.empty()) {
    out += "\"Location\":";
    tables::appendJsonString(result.location, out);
    out += ',';
  }
  out += "\"Content-Range\":";
  tables::appendJsonString(result.content_range, out);
  out += '}';
  if (result.has_body) out.append(",\"body\":").append(result.body);
  out += '}';
}

void BatchWork::onOperationsDone() noexcept {
  std::string answer = "[";
  for (size_t i = 0; i < entries_.size(); ++i) {
    tables::Operation& operation = *runner_->operations()[i];
    if (operation.isWrite() && !runner_->rollsBack())
      publishWrite(site_.shard, operation.table(), entries_[i].method, operation.result());
    if (i != 0) answer += ',';
    appendResult(operation.result(), answer);
  }
  answer += ']';
  http::ResponseHead head(200);
  head.add("Content-Type", "application/json");
  head.add("Cache-Control", "no-store");
  if (preferences_.rollback) head.add("Preference-Applied", "tx=rollback");
  exchange_.reply(head, answer);
}

void BatchWork::onOperationFailed(size_t index, const Problem& problem, uint32_t retry_after_s) noexcept {
  if (problem.code == "schema_changed" && site_.alarm != nullptr) site_.alarm->onSchemaChanged();
  ProblemExtra extra;
  extra.retry_after_s = retry_after_s;
  Problem told = problem;
  const std::string details = fmt::format("operation {} of {}", index + 1, entries_.size());
  if (index < entries_.size()) {
    nameOperation(index, told);
    extra.details = details;
  }
  refuse(told, extra);
}

}  // namespace

void startBatch(http::Exchange& exchange, WriteSite site) noexcept {
  Problem problem;
  tables::Preferences preferences;
  tables::BodyFormat format = tables::BodyFormat::kJson;
  const http::RequestHead& head = exchange.request();
  if (!readPrefer(head, preferences, problem) ||
      !bodyFormat(head.get(http::FieldId::kContentType), format, problem))
    return replyProblem(exchange, problem);
  if (!exchange.hasBody() || format != tables::BodyFormat::kJson)
    return replyProblem(exchange, {400, "bad_body", "a batch is an array in JSON", {}, {}});
  if (announcedBytes(head) > int64_t{site.max_body_bytes})
    return replyProblem(exchange, bodyTooLarge(site.max_body_bytes));
  exchange.listen(std::make_unique<BatchWork>(exchange, std::move(site), std::move(preferences)));
}

}  // namespace roost::modules::mysql
