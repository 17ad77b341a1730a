#include "modules/mysql/rest_handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "http/exchange.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_request.h"
#include "modules/mysql/read_work.h"
#include "modules/mysql/write_handler.h"
#include "modules/mysql/write_request.h"
#include "push/hub.h"
#include "tables/query.h"

namespace roost::modules::mysql {
namespace {

using http::Method;

constexpr std::string_view kBatch = "batch";
constexpr uint32_t kSchemaRetryS = 1;

std::string allowOf(uint8_t methods) {
  std::string allow = "OPTIONS";
  const auto add = [&](uint8_t action, std::string_view names) {
    if ((methods & action) != 0) allow.append(", ").append(names);
  };
  add(tables::kRead, "GET, HEAD");
  add(tables::kInsert, "POST");
  add(tables::kUpdate, "PATCH");
  add(tables::kUpsert, "PUT");
  add(tables::kDelete, "DELETE");
  return allow;
}

void replyOptions(http::Exchange& exchange, std::string_view allow) {
  http::ResponseHead head(204);
  head.add("Allow", allow);
  exchange.begin(head, true);
}

void replyUnknown(http::Exchange& exchange, std::string_view name) {
  replyProblem(exchange, {404, "unknown_table", fmt::format("there is no \"{}\" here", name), {}, {}});
}

// False: the answer has been given.
bool takesBatch(http::Exchange& exchange) {
  constexpr std::string_view kAllow = "OPTIONS, POST";
  const Method method = exchange.method();
  if (method == Method::kOptions) {
    replyOptions(exchange, kAllow);
  } else if (method != Method::kPost) {
    replyNotAllowed(exchange, kAllow, "a batch is sent by POST");
  }
  return method == Method::kPost;
}

std::string_view verbOf(uint8_t action) noexcept {
  switch (action) {
    case tables::kRead:
      return "reads";
    case tables::kInsert:
      return "inserts into";
    case tables::kUpdate:
      return "changes rows of";
    case tables::kUpsert:
      return "inserts or replaces a row of";
    default:
      return "deletes rows of";
  }
}

const tables::TableConfig* findIn(const tables::RestConfig& config, std::string_view name) noexcept {
  const auto found =
      std::find_if(config.tables.begin(), config.tables.end(), [name](const tables::TableConfig& table) {
        return name == (table.alias.empty() ? table.name : table.alias);
      });
  return found != config.tables.end() ? &*found : nullptr;
}

}  // namespace

void RestHandler::handle(http::Exchange& exchange) const noexcept {
  if (exchange.trace() != nullptr) return explain(exchange);
  tables::Problem problem;
  if (!readProfile(exchange.request(), runtime_.databaseName(), problem))
    return replyProblem(exchange, problem);
  const std::shared_ptr<const tables::Exposure>& exposure = route_->exposure(exchange.context().index());
  if (exposure == nullptr) {
    ProblemExtra extra;
    extra.retry_after_s = kSchemaRetryS;
    return replyProblem(exchange, runtime_.schemaProblem(), extra);
  }
  const std::string_view name = nameIn(exchange);
  const Description* const description = route_->description(exchange.context().index());
  if (name.empty() && description != nullptr) return replyDescription(exchange, *description);
  if (route_->config().batch && name == kBatch) return handleBatch(exchange, exposure);
  const tables::ExposedTable* const table = exposure->find(name);
  if (table == nullptr) return replyUnknown(exchange, name);
  handleTable(exchange, exposure, *table);
}

void RestHandler::handleTable(http::Exchange& exchange, std::shared_ptr<const tables::Exposure> exposure,
                              const tables::ExposedTable& table) const noexcept {
  const Method method = exchange.method();
  const uint8_t action = actionOf(method);
  if ((table.methods & action) == 0) {
    const std::string allow = allowOf(table.methods);
    if (method == Method::kOptions) return replyOptions(exchange, allow);
    return replyNotAllowed(exchange, allow,
                           fmt::format("{} knows no {}", table.name, http::methodName(method)));
  }
  if (action != tables::kRead && refuseForeign(exchange)) return;
  if (action != tables::kRead) return startWrite(exchange, writeSite(exchange, std::move(exposure)), table);
  startRead(exchange, {std::move(exposure), &runtime_.pool(exchange.context().index()), &runtime_}, table);
}

void RestHandler::handleBatch(http::Exchange& exchange,
                              std::shared_ptr<const tables::Exposure> exposure) const noexcept {
  if (takesBatch(exchange) && !refuseForeign(exchange))
    startBatch(exchange, writeSite(exchange, std::move(exposure)));
}

std::string_view RestHandler::nameIn(const http::Exchange& exchange) const noexcept {
  const std::string_view path = exchange.path();
  return path.substr(std::min(base_.size(), path.size()));
}

void RestHandler::explain(http::Exchange& exchange) const {
  const RestRouteConfig& config = route_->config();
  const std::string_view name = nameIn(exchange);
  if (name.empty() && config.openapi)
    return leaveToDatabase(exchange, "describes the tables of this route: an OpenAPI document, or a page");
  if (config.batch && name == kBatch) {
    if (takesBatch(exchange) && !refuseForeign(exchange))
      leaveToDatabase(exchange, "carries out operations in one transaction");
    return;
  }
  const tables::TableConfig* const table = findIn(*config.tables, name);
  if (table == nullptr) return replyUnknown(exchange, name);
  const Method method = exchange.method();
  const uint8_t action = actionOf(method);
  const std::string label = tables::labelOf(*table);
  if (method == Method::kOptions)
    return leaveToDatabase(exchange, fmt::format("tells what may be done with {}", label));
  if ((table->methods & action) == 0)
    return replyNotAllowed(exchange, allowOf(table->methods),
                           fmt::format("{} knows no {}", name, http::methodName(method)));
  tables::Query query;
  tables::Problem problem;
  if (!tables::parseQuery(exchange.query(), config.tables->limits, query, problem))
    return replyProblem(exchange, problem);
  if (action != tables::kRead && refuseForeign(exchange)) return;
  if (!table->where.empty()) exchange.trace()->note(fmt::format("only rows with {}", table->where));
  leaveToDatabase(exchange, fmt::format("{} the table {}", verbOf(action), label));
}

WriteSite RestHandler::writeSite(http::Exchange& exchange,
                                 std::shared_ptr<const tables::Exposure> exposure) const {
  const uint32_t loop = exchange.context().index();
  WriteSite site;
  site.exposure = std::move(exposure);
  site.pool = &runtime_.pool(loop);
  if (runtime_.hub() != nullptr) site.shard = &runtime_.hub()->shard(loop);
  site.alarm = &runtime_;
  site.base = base_;
  site.bodies = runtime_.bodies();
  site.max_body_bytes = route_->config().max_body_bytes;
  return site;
}

}  // namespace roost::modules::mysql
