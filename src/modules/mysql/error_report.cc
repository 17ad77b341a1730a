#include "modules/mysql/error_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "log/log.h"
#include "tables/exposure.h"

namespace roost::modules::mysql {
namespace {

constexpr size_t kShownBytes = 500;  // of a statement, which may have a mark for each of many values

// Messages that quote names, texts of statements or nothing at all.
constexpr std::array<uint32_t, 9> kPlainMessages = {1046, 1054, 1064, 1142, 1143, 1146, 1290, 1305, 1370};
// What is not refused for what a client has sent.
constexpr std::array<std::string_view, 6> kCodes = {"database_error",     "database_full",
                                                    "database_read_only", "database_unavailable",
                                                    "forbidden",          "schema_changed"};

ReportGate& gate() noexcept {
  static ReportGate only;
  return only;
}

int64_t nowNs() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

void report(std::string_view where, const db::Error& error, const tables::Problem& problem,
            std::string_view statement) {
  constexpr size_t kSpread = 31;
  const size_t key = std::hash<std::string_view>()(where) + kSpread * error.number;
  uint32_t held_back = 0;
  if (!gate().admit(key, nowNs(), held_back)) return;
  std::string text = reportText(where, error, problem, statement);
  if (held_back != 0) text += fmt::format("; {} more like it since the last one told", held_back);
  LOG_WARN("{}", text);
}

}  // namespace

bool isForOperator(const db::Error& error, const tables::Problem& problem) noexcept {
  return error.kind == db::ErrorKind::kStatement &&
         std::find(kCodes.begin(), kCodes.end(), problem.code) != kCodes.end();
}

std::string reportText(std::string_view where, const db::Error& error, const tables::Problem& problem,
                       std::string_view statement) {
  std::string text = fmt::format("{}: the database refuses with {}", where, error.number);
  if (!error.sqlstate.empty()) text += fmt::format(" ({})", error.sqlstate);
  text += fmt::format(", answered {} {}", problem.status, problem.code);
  if (std::find(kPlainMessages.begin(), kPlainMessages.end(), error.number) != kPlainMessages.end())
    text.append(": ").append(error.message);
  if (statement.empty()) return text;
  text.append("; the statement: ").append(statement.substr(0, kShownBytes));
  if (statement.size() > kShownBytes) text += "...";
  return text;
}

bool ReportGate::admit(size_t key, int64_t now_ns, uint32_t& held_back) noexcept {
  Place& place = places_[key % places_.size()];
  int64_t closed_until_ns = place.closed_until_ns.load(std::memory_order_relaxed);
  if (now_ns < closed_until_ns || !place.closed_until_ns.compare_exchange_strong(
                                      closed_until_ns, now_ns + kPauseNs, std::memory_order_relaxed)) {
    place.held_back.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  held_back = place.held_back.exchange(0, std::memory_order_relaxed);
  return true;
}

void reportRestError(const tables::ExposedTable* table, const db::Error& error,
                     const tables::Problem& problem, std::string_view statement) {
  if (!isForOperator(error, problem)) return;
  report(table == nullptr ? std::string("mysql_rest") : "mysql_rest " + labelOf(*table->config), error,
         problem, statement);
}

void reportQueryError(std::string_view path, const db::Error& error, const tables::Problem& problem,
                      std::string_view statement) {
  if (!isForOperator(error, problem)) return;
  report("mysql_query " + std::string(path), error, problem, statement);
}

}  // namespace roost::modules::mysql
