// links: roost_tables
// Any query for any table: parsed and planned over a sample schema. What comes out holds nothing of the query
// but values: outside of identifiers, which the schema knows, there are words and signs of this program's own
// alone.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/fuzz_require.h"
#include "tables/read.h"
#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT
using test::require;

const std::set<std::string, std::less<>>& ownWords() {
  static const std::set<std::string, std::less<>> words = {"SELECT",
                                                           "DISTINCT",
                                                           "FROM",
                                                           "AS",
                                                           "WHERE",
                                                           "AND",
                                                           "OR",
                                                           "NOT",
                                                           "IN",
                                                           "IS",
                                                           "NULL",
                                                           "TRUE",
                                                           "FALSE",
                                                           "LIKE",
                                                           "REGEXP",
                                                           "COLLATE",
                                                           "CONVERT",
                                                           "USING",
                                                           "utf8mb4",
                                                           "utf8mb4_bin",
                                                           "LOWER",
                                                           "CONCAT",
                                                           "LEFT",
                                                           "CAST",
                                                           "DECIMAL",
                                                           "CHAR",
                                                           "SIGNED",
                                                           "DATE",
                                                           "TIME",
                                                           "DATETIME",
                                                           "JSON",
                                                           "JSON_EXTRACT",
                                                           "JSON_UNQUOTE",
                                                           "JSON_TYPE",
                                                           "JSON_EQUALS",
                                                           "NULLIF",
                                                           "MATCH",
                                                           "AGAINST",
                                                           "BOOLEAN",
                                                           "MODE",
                                                           "EXISTS",
                                                           "ORDER",
                                                           "BY",
                                                           "DESC",
                                                           "LIMIT",
                                                           "OFFSET",
                                                           "COUNT",
                                                           "EXPLAIN",
                                                           "FORMAT",
                                                           "TRADITIONAL",
                                                           "CASE",
                                                           "WHEN",
                                                           "THEN",
                                                           "ELSE",
                                                           "END",
                                                           "ROW_NUMBER",
                                                           "OVER",
                                                           "PARTITION",
                                                           "t",
                                                           "e",
                                                           "r",
                                                           "n",
                                                           "0e0"};
  return words;
}

bool isOwnWord(std::string_view word) {
  if (ownWords().count(word) > 0) return true;
  if (word.front() == 'c') word.remove_prefix(1);  // c0, c1 ...
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Reads a statement's text from left to right.
class Checker {
 public:
  Checker(const Catalog& catalog, const db::Statement& statement) : text_(statement.text.view()) {
    for (const auto& [name, table] : catalog.tables) {
      known_.insert(std::string(table.identifier.quoted()));
      for (const Column& column : table.columns) known_.insert(std::string(column.identifier.quoted()));
    }
    while (at_ < text_.size()) step();
    require(depth_ == 0, "parentheses that close");
    require(marks_ == statement.values.size(), "a value for each mark");
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '`') return identifier();
    if (c == '\'') return literal();
    if (isWordCharacter(c)) return word();
    require(std::string_view(" ,.()=<>*+?").find(c) != std::string_view::npos, "no other signs");
    if (c == '(') ++depth_;
    if (c == ')') require(--depth_ >= 0, "parentheses in their order");
    if (c == '?') ++marks_;
    ++at_;
  }

  void identifier() {
    const size_t begin = at_++;
    while (at_ < text_.size()) {
      if (text_[at_] == '`' && text_.substr(at_, 2) != "``") break;
      at_ += text_[at_] == '`' ? 2 : 1;
    }
    require(at_ < text_.size(), "identifiers that end");
    require(known_.count(std::string(text_.substr(begin, ++at_ - begin))) > 0, "identifiers of the schema");
  }

  void literal() {
    static const std::set<std::string, std::less<>> kLiterals = {
        "null",  "INTEGER", "DOUBLE", "DECIMAL", "UNSIGNED INTEGER", "STRING", "BOOLEAN", "NULL",
        "ARRAY", "OBJECT",  "true",   "false"};
    const size_t end = text_.find('\'', at_ + 1);
    require(end != std::string_view::npos, "literals that end");
    require(kLiterals.count(text_.substr(at_ + 1, end - at_ - 1)) > 0, "literals of this program");
    at_ = end + 1;
  }

  void word() {
    const size_t begin = at_;
    while (at_ < text_.size() && isWordCharacter(text_[at_])) ++at_;
    require(isOwnWord(text_.substr(begin, at_ - begin)), "words of this program");
  }

  std::string_view text_;
  std::set<std::string, std::less<>> known_;
  size_t at_ = 0;
  size_t marks_ = 0;
  int depth_ = 0;
};

void checkProblem(const Problem& problem) {
  require(problem.status == 400 || problem.status == 300 || problem.status == 416,
          "a status of the client's");
  require(!problem.code.empty() && !problem.detail.empty(), "a problem that is told");
}

void checkPlan(const Catalog& catalog, const ReadPlan& plan) {
  Checker(catalog, plan.rows);
  if (plan.count) Checker(catalog, *plan.count);
  if (plan.explain) Checker(catalog, *plan.explain);
  require(!plan.columns.empty(), "a column at least");
  bool hidden = false;
  for (const OutputColumn& column : plan.columns) {
    require(column.hidden || !hidden, "hidden columns last");
    hidden = column.hidden;
  }
  for (const uint16_t at : plan.order_columns) require(at < plan.columns.size(), "cells to page by");
  for (const EmbedPlan& embed : plan.embeds) {
    require(!embed.from.empty() && embed.columns.size() >= embed.from.size(), "joining cells");
    for (size_t i = 0; i < embed.from.size(); ++i) {
      require(embed.from[i] < plan.columns.size(), "outer cells");
      require(embed.columns[i].hidden, "joining cells that are not shown");
    }
    const std::vector<db::Value> keys(3 * embed.from.size(), db::Value::ofInt(1));
    Checker(catalog, embed.forKeys(keys));
  }
}

void planAll(const Exposure& exposure, const ExposedTable& table, const Query& query, uint8_t flags) {
  ReadOptions options;
  options.single = (flags & 1) != 0;
  options.preferences.count = static_cast<Preferences::Count>(flags >> 1 & 3);
  if ((flags & 8) != 0) options.range = RowRange{flags, uint64_t{flags} + 10};
  Problem problem;
  ReadPlan plan;
  if (planRead(table, exposure, query, options, plan, problem)) {
    checkPlan(*exposure.catalog, plan);
  } else {
    checkProblem(problem);
  }
  db::Statement where;
  if (appendWhere(table, exposure, query, where, problem)) {
    Checker(*exposure.catalog, where);
  } else {
    checkProblem(problem);
  }
  db::Statement select;
  std::vector<OutputColumn> columns;
  if (appendSelect(table, exposure, query, select, columns, problem)) {
    Checker(*exposure.catalog, select);
  } else {
    checkProblem(problem);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto mariadb = test::sampleExposure(true);
  static const auto mysql = test::sampleExposure(false);
  if (size < 2) return 0;
  const Exposure& exposure = (data[0] & 16) != 0 ? *mysql : *mariadb;
  auto table = exposure.tables.begin();
  std::advance(table, data[1] % exposure.tables.size());
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  Query query;
  Problem problem;
  if (parseQuery(text, exposure.config->limits, query, problem)) {
    planAll(exposure, table->second, query, data[0]);
  } else {
    checkProblem(problem);
  }
  return 0;
}
