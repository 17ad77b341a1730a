// links: roost_tables roost_modules_mysql
// Any bytes as the body of any write, and as a batch. What is read keeps to its limits and names columns that
// may be written; the statements that it becomes hold nothing of it but values.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "modules/mysql/batch_request.h"
#include "support/fuzz_require.h"
#include "tables/write.h"
#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT
using test::require;

constexpr uint32_t kMostRows = 40;
constexpr std::array kTables = {"every_type", "orders", "order_lines", "products", "keyless"};
constexpr std::array kMethods = {kInsert, kUpdate, kUpsert, kDelete};
constexpr std::array kQueries = {"",
                                 "id=eq.1",
                                 "columns=id,name,data",
                                 "on_conflict=id",
                                 "order_id=eq.1&line=eq.2",
                                 "id=gt.1&select=id",
                                 "a=eq.x",
                                 "id=gt.1&limit=2&order=id"};
constexpr std::array kPrefers = {"", "return=representation", "resolution=merge-duplicates",
                                 "resolution=ignore-duplicates,missing=null"};

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Outside of identifiers, which the schema has, there are words and signs of this program's own.
void checkText(const Catalog& catalog, const db::Statement& statement) {
  static const std::set<std::string, std::less<>> kWords = {
      "INSERT", "INTO",  "VALUES", "DEFAULT", "RETURNING", "ON",      "DUPLICATE", "KEY",    "UPDATE", "SET",
      "WHERE",  "AND",   "OR",     "IN",      "SELECT",    "FROM",    "FOR",       "DELETE", "ORDER",  "BY",
      "DESC",   "LIMIT", "COUNT",  "CAST",    "AS",        "DECIMAL", "65",        "30",     "1"};
  static std::set<std::string, std::less<>> names;
  if (names.empty()) {
    for (const auto& [name, table] : catalog.tables) {
      names.insert(std::string(table.identifier.quoted()));
      for (const Column& column : table.columns) names.insert(std::string(column.identifier.quoted()));
    }
  }
  const std::string_view text = statement.text.view();
  size_t marks = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '`') {
      while (text[end] != '`' || text.substr(end, 2) == "``") end += text[end] == '`' ? 2 : 1;
      require(names.count(text.substr(at, ++end - at)) > 0);
    } else if (isWordCharacter(text[at])) {
      while (end < text.size() && isWordCharacter(text[end])) ++end;
      require(kWords.count(text.substr(at, end - at)) > 0);
    } else {
      require(std::string_view(" ,()=<>*?").find(text[at]) != std::string_view::npos);
      if (text[at] == '?') ++marks;
    }
    at = end;
  }
  require(marks == statement.values.size());
}

void checkRows(const ExposedTable& table, const Body& body) {
  require(body.rows.size() <= kMostRows);
  for (const BodyRow& row : body.rows) {
    require(row.columns.size() == row.values.size());
    for (size_t i = 0; i < row.columns.size(); ++i) {
      require(i == 0 || row.columns[i - 1] < row.columns[i]);
      require(table.mayWrite(table.table->columns[row.columns[i]]));
      require(std::binary_search(body.columns.begin(), body.columns.end(), row.columns[i]));
    }
  }
}

void checkProblem(const Problem& problem) {
  require(problem.status >= 400 && problem.status < 500 && !problem.code.empty() && !problem.detail.empty());
}

void write(std::string_view text, uint8_t what, uint8_t how, const Exposure& exposure) {
  const ExposedTable& table = *exposure.find(kTables[what % kTables.size()]);
  Query query;
  Problem problem;
  require(parseQuery(kQueries[how % kQueries.size()], exposure.config->limits, query, problem));
  WriteOptions options;
  options.method = kMethods[how / kQueries.size() % kMethods.size()];
  readPreferences(kPrefers[how / (kQueries.size() * kMethods.size()) % kPrefers.size()], options.preferences);
  BodyOptions reading;
  reading.columns = &query.columns;
  reading.max_rows = kMostRows;
  reading.missing_is_null = options.preferences.missing == Preferences::Missing::kNull;
  Body body;
  const auto format = static_cast<BodyFormat>(what / kTables.size() % 3);
  if (!readBody(text, format, table, reading, body, problem)) return checkProblem(problem);
  checkRows(table, body);
  const auto operation =
      planWrite(table, exposure, std::move(query), std::move(options), std::move(body), problem);
  if (operation == nullptr) return checkProblem(problem);
  db::Statement statement;
  for (int i = 0; i < 200 && operation->next(statement); ++i) {
    checkText(*exposure.catalog, statement);
    db::Outcome outcome;
    outcome.affected_rows = outcome.insert_id = 1;
    operation->onResult(outcome);
  }
}

void batch(std::string_view text) {
  std::vector<modules::mysql::BatchEntry> entries;
  Problem problem;
  if (!modules::mysql::readBatch(text, "/data/", 5, entries, problem)) return checkProblem(problem);
  require(entries.size() <= 5);
  for (const modules::mysql::BatchEntry& entry : entries)
    require(!entry.method.empty() && entry.table.find('?') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto exposure = test::sampleExposure();
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  write(text, data[0], data[1], *exposure);
  batch(text);
  return 0;
}
