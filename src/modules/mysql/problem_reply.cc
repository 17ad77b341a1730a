#include "modules/mysql/problem_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "http/exchange.h"
#include "http/origin_rule.h"
#include "http/trace.h"
#include "tables/output.h"

namespace roost::modules::mysql {
namespace {

constexpr std::string_view kNoMemory = "no_memory";
constexpr uint32_t kMemoryRetryS = 1;

void appendMember(std::string& out, std::string_view key, std::string_view value) {
  out.append(",\"").append(key).append("\":");
  if (value.empty()) {
    out += "null";
  } else {
    tables::appendJsonString(value, out);
  }
}

std::string bodyOf(const tables::Problem& problem, const ProblemExtra& extra) {
  const std::string_view title = http::reasonPhrase(problem.status);
  std::string body = "{\"type\":\"about:blank\",\"title\":";
  tables::appendJsonString(title, body);
  body.append(",\"status\":").append(std::to_string(problem.status));
  appendMember(body, "code", problem.code);
  if (!problem.detail.empty()) appendMember(body, "detail", problem.detail);
  appendMember(body, "message", problem.detail.empty() ? title : std::string_view(problem.detail));
  appendMember(body, "details", extra.details);
  appendMember(body, "hint", problem.hint);
  if (!problem.sqlstate.empty()) appendMember(body, "sqlstate", problem.sqlstate);
  body += '}';
  return body;
}

}  // namespace

void replyProblem(http::Exchange& exchange, const tables::Problem& problem, const ProblemExtra& extra) {
  if (exchange.trace() != nullptr) {
    exchange.trace()->note(fmt::format("answers {} {}: {}", problem.status, problem.code, problem.detail));
  }
  http::ResponseHead head(problem.status);
  head.add("Content-Type", "application/problem+json");
  head.add("Cache-Control", "no-store");
  if (problem.code == kNoMemory) exchange.context().noteNoMemory();
  const bool passes = problem.status == 503 && (problem.code == kNoMemory || problem.code == "bodies_full");
  const uint32_t retry_s = passes ? kMemoryRetryS : extra.retry_after_s;
  if (retry_s != 0) head.addNumber("Retry-After", retry_s);
  if (extra.lines != nullptr) head.addAll(*extra.lines);
  exchange.reply(head, bodyOf(problem, extra));
}

void leaveToDatabase(http::Exchange& exchange, std::string what) {
  exchange.trace()->note(std::move(what));
  exchange.trace()->note("the answer is the database's, which is not asked here");
  exchange.abandon();
}

tables::Problem noMemory() {
  return {503, std::string(kNoMemory), "the server has no memory for this now", {}, {}};
}

tables::Problem noMemoryForAnswer(bool writes) {
  if (!writes) return noMemory();
  return {507,
          std::string(kNoMemory),
          "there is no memory for the answer; what was asked for may be done",
          {},
          {}};
}

bool refuseForeign(http::Exchange& exchange) {
  std::string why = http::refusedOrigin(exchange);
  if (why.empty()) return false;
  replyProblem(exchange, {403, "foreign_origin", std::move(why), {}, {}});
  return true;
}

void replyNotAllowed(http::Exchange& exchange, std::string_view allow, std::string_view detail) {
  http::ResponseHead lines(405);
  lines.add("Allow", allow);
  ProblemExtra extra;
  extra.lines = &lines;
  replyProblem(exchange, {405, "method_not_allowed", std::string(detail), {}, {}}, extra);
}

}  // namespace roost::modules::mysql
