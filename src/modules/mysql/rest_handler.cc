#include "modules/mysql/rest_handler.h"

#include <fmt/format.h>

#include <utility>

#include "http/exchange.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_work.h"
#include "modules/mysql/write_handler.h"
#include "push/hub.h"

namespace roost::modules::mysql {
namespace {

using http::Method;

constexpr std::string_view kBatch = "batch";
constexpr uint32_t kSchemaRetryS = 1;

// What a method does to a table; 0: nothing that can be done to one.
uint8_t actionOf(Method method) noexcept {
  switch (method) {
    case Method::kGet:
    case Method::kHead:
      return tables::kRead;
    case Method::kPost:
      return tables::kInsert;
    case Method::kPatch:
      return tables::kUpdate;
    case Method::kPut:
      return tables::kUpsert;
    case Method::kDelete:
      return tables::kDelete;
    default:
      return 0;
  }
}

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

}  // namespace

void RestHandler::handle(http::Exchange& exchange) const noexcept {
  const std::shared_ptr<const tables::Exposure>& exposure = route_->exposure(exchange.context().index());
  if (exposure == nullptr) {
    ProblemExtra extra;
    extra.retry_after_s = kSchemaRetryS;
    return replyProblem(exchange,
                        {503, "schema_unavailable", "the database has not been reached yet", {}, {}}, extra);
  }
  const std::string_view path = exchange.path();
  const std::string_view name = path.substr(std::min(base_.size(), path.size()));
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
  if (action != tables::kRead) return startWrite(exchange, writeSite(exchange, std::move(exposure)), table);
  startRead(exchange, {std::move(exposure), &runtime_.pool(exchange.context().index()), &runtime_}, table);
}

void RestHandler::handleBatch(http::Exchange& exchange,
                              std::shared_ptr<const tables::Exposure> exposure) const noexcept {
  const Method method = exchange.method();
  constexpr std::string_view kAllow = "OPTIONS, POST";
  if (method == Method::kOptions) return replyOptions(exchange, kAllow);
  if (method != Method::kPost) return replyNotAllowed(exchange, kAllow, "a batch is sent by POST");
  startBatch(exchange, writeSite(exchange, std::move(exposure)));
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
  site.max_body_bytes = route_->config().max_body_bytes;
  return site;
}

}  // namespace roost::modules::mysql
