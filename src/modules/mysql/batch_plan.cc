#include "modules/mysql/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "http/etag.h"
#include "modules/mysql/entity_tag.h"
#include "modules/mysql/read_operation.h"
#include "modules/mysql/represented_write.h"
#include "tables/write.h"

namespace roost::modules::mysql {
namespace {

using tables::Problem;

constexpr std::string_view kSingle = "application/vnd.pgrst.object+json";
constexpr std::string_view kJson = "application/json";

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
    if (tag) tags.add(tagStem(tag->opaque));
  }
}

// Makes operations of entries.
class Planner {
 public:
  Planner(BatchRequest& request, BatchPlan& plan)
      : request_(request), plan_(plan), exposure_(*request.exposure) {}

  // nullptr: `problem`.
  std::unique_ptr<tables::Operation> planOne(BatchEntry& entry, Problem& problem);

 private:
  std::unique_ptr<tables::Operation> planWrite(BatchEntry& entry, const tables::ExposedTable& table,
                                               tables::Query query, tables::WriteOptions options,
                                               Problem& problem);

  BatchRequest& request_;
  BatchPlan& plan_;
  const tables::Exposure& exposure_;
};

// What a request by itself may say, and an operation among others may not.
bool mayBeAsked(const BatchEntry& entry, bool reads, const tables::Preferences& preferences,
                Problem& problem) {
  const char* detail = nullptr;
  if (preferences.rollback) detail = "tx=rollback is for the batch as a whole";
  if (!entry.accept.empty() && entry.accept != kSingle && entry.accept != kJson && entry.accept != "*/*")
    detail = "answers within a batch are JSON";
  if (reads && (!entry.if_match.empty() || !entry.if_none_match.empty()))
    detail = "If-Match and If-None-Match of an operation are for writes";
  if (!entry.if_none_match.empty() && entry.if_none_match != "*")
    detail = "If-None-Match of a write is \"*\"";
  if (detail == nullptr) return true;
  problem = {400, "bad_batch", detail, {}, {}};
  return false;
}

std::unique_ptr<tables::Operation> Planner::planOne(BatchEntry& entry, Problem& problem) {
  const tables::ExposedTable* const table = exposure_.find(entry.table);
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
  if (!mayBeAsked(entry, action == tables::kRead, options.preferences, problem)) return nullptr;
  if (!tables::parseQuery(entry.query, exposure_.config->limits, query, problem)) return nullptr;
  options.single = entry.accept == kSingle;
  if (action != tables::kRead) {
    options.method = static_cast<tables::Methods>(action);
    return planWrite(entry, *table, std::move(query), std::move(options), problem);
  }
  tables::ReadOptions reads;
  reads.preferences = options.preferences;
  reads.single = options.single;
  return ReadOperation::plan(*table, exposure_, query, reads, problem);
}

std::unique_ptr<tables::Operation> Planner::planWrite(BatchEntry& entry, const tables::ExposedTable& table,
                                                      tables::Query query, tables::WriteOptions options,
                                                      Problem& problem) {
  options.base = request_.base;
  options.must_exist = entry.if_match == "*";
  if (!entry.if_match.empty() && !options.must_exist) {
    plan_.tags.push_back(std::make_unique<RowTags>());
    readTags(entry.if_match, *plan_.tags.back());
    options.tag = plan_.tags.back().get();
  }
  options.create_only = entry.if_none_match == "*";
  tables::Body body;
  if (options.method != tables::kDelete) {
    const tables::BodyOptions reading = tables::bodyOptions(exposure_, query, options, request_.lease);
    if (!tables::readBody(entry.body, tables::BodyFormat::kJson, table, reading, body, problem))
      return nullptr;
    entry.body = {};
  }
  return planAnyWrite(table, exposure_, std::move(query), std::move(options), std::move(body), problem);
}

}  // namespace

BatchPlan planBatch(BatchRequest& request) {
  BatchPlan plan;
  Planner planner(request, plan);
  // Each operation has a text of its own, too.
  if (!request.lease.take(request.text.size())) {
    plan.problem = tables::bodiesFull();
    return plan;
  }
  if (!readBatch(request.text, request.base, request.exposure->config->limits.max_batch, plan.entries,
                 plan.problem))
    return plan;
  request.lease.give(request.text.capacity());
  request.text = {};
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    std::unique_ptr<tables::Operation> operation = planner.planOne(plan.entries[i], plan.problem);
    if (operation == nullptr) {
      nameOperation(i, plan.problem);
      return plan;
    }
    plan.operations.push_back(std::move(operation));
  }
  plan.lease = std::move(request.lease);
  plan.is_good = true;
  return plan;
}

}  // namespace roost::modules::mysql
