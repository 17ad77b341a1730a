// One write against a scripted database: what is sent, and what becomes of it.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tables/write.h"
#include "unit/tables/plan_text.h"
#include "unit/tables/sample_schema.h"

namespace roost::test {

// What a statement comes to: rows of whole numbers, or what it affected, or an error, behind rows or not.
struct Scripted {
  std::vector<std::vector<int64_t>> rows;
  uint64_t affected = 0;
  uint64_t insert_id = 0;
  uint32_t error = 0;
};
inline Scripted affects(uint64_t affected, uint64_t insert_id = 0) {
  return {{}, affected, insert_id, 0};
}
inline Scripted brings(std::vector<std::vector<int64_t>> rows) {
  return {std::move(rows), 0, 0, 0};
}
inline Scripted fails(uint32_t error) {
  return {{}, 0, 0, error};
}

// items(id made by the server, sku unique, name, amount with a default, note); pairs(a, b: the key, note);
// keyless(a). As "made" items whose ids clients do not choose, as "open" only items with amount=1, as "some"
// those with amount<9; "counted" has a version, "told" a channel; "plain" can only be inserted into.
inline std::shared_ptr<const tables::Exposure> writableExposure(std::string version) {
  auto catalog = std::make_shared<tables::Catalog>();
  catalog->time_zone = "+00:00";
  catalog->is_mariadb = version.find("MariaDB") != std::string::npos;
  catalog->server_version = std::move(version);
  tables::Column id = intColumn("id");
  id.auto_increment = id.has_default = true;
  tables::Column amount = intColumn("amount");
  amount.has_default = true;
  tables::Key sku = primaryKey({1});
  sku.name = "sku";
  sku.primary = false;
  const auto add = [&catalog](tables::Table table) { catalog->tables.emplace(table.name, std::move(table)); };
  add(sampleTable("items",
                  {id, textColumn("sku"), textColumn("name", true), amount, textColumn("note", true)},
                  {primaryKey({0}), sku}));
  add(sampleTable("pairs", {intColumn("a"), intColumn("b"), textColumn("note", true)}, {primaryKey({0, 1})}));
  add(sampleTable("logs", {id, textColumn("name", true)}, {primaryKey({0})}));
  add(sampleTable("keyless", {intColumn("a"), textColumn("b", true)}));
  auto rest = std::make_shared<tables::RestConfig>();
  const auto show = [&rest](const char* name, const char* alias,
                            const char* where = "") -> tables::TableConfig& {
    rest->tables.emplace_back();
    rest->tables.back().name = name;
    rest->tables.back().alias = alias;
    rest->tables.back().where = where;
    rest->tables.back().methods = tables::kAllMethods;
    rest->tables.back().client_ids = true;
    return rest->tables.back();
  };
  show("items", "");
  show("pairs", "");
  show("keyless", "");
  show("items", "open", "amount=eq.1");
  show("items", "some", "amount=lt.9");
  show("items", "counted").version = "amount";
  show("items", "few").max_rows = 2;
  show("items", "told").publish = "news";
  show("items", "plain").methods = tables::kInsert;
  show("items", "made").client_ids = false;
  show("logs", "").client_ids = false;
  std::vector<std::string> complaints;
  return tables::expose(catalog, rest, complaints);
}

// "POST items?select=id", "return=representation", body.
struct WriteCase {
  std::string request;
  std::string prefer;
  std::string body;
  std::deque<Scripted> script;
  std::string version = "10.11.6-MariaDB";
  const tables::TagCheck* tag = nullptr;
  bool create_only = false;
};

class WriteRun {
 public:
  explicit WriteRun(WriteCase one)
      : exposure_(writableExposure(one.version)), script_(std::move(one.script)) {
    tables::Problem problem;
    std::unique_ptr<tables::Operation> operation = plan(one, problem);
    if (operation == nullptr) {
      end = fmt::format("{} {}", problem.status, problem.code);
      hint = problem.hint;
      return;
    }
    transaction = operation->needsTransaction();
    perform(*operation);
  }

  std::vector<std::string> sent;  // "INSERT ... | values"
  std::string end;                // "201 1 /data/items?id=eq.5 {"id":5}" or "409 unique_violation"
  std::string hint;
  std::string body;
  std::string range;
  std::string announcement;
  bool transaction = false;

 private:
  std::unique_ptr<tables::Operation> plan(const WriteCase& one, tables::Problem& problem) {
    const size_t space = one.request.find(' ');
    const size_t mark = std::min(one.request.find('?'), one.request.size());
    const std::string method = one.request.substr(0, space);
    const tables::ExposedTable& table = *exposure_->find(one.request.substr(space + 1, mark - space - 1));
    tables::Query query;
    const std::string text = mark < one.request.size() ? one.request.substr(mark + 1) : "";
    if (!tables::parseQuery(text, exposure_->config->limits, query, problem)) return nullptr;
    tables::WriteOptions options;
    options.method = method == "POST"    ? tables::kInsert
                     : method == "PATCH" ? tables::kUpdate
                     : method == "PUT"   ? tables::kUpsert
                                         : tables::kDelete;
    options.base = "/data/";
    options.tag = one.tag;
    options.create_only = one.create_only;
    tables::readPreferences(one.prefer, options.preferences);
    options.single = one.prefer.find("single") != std::string::npos;
    tables::BodyLease lease;
    const tables::BodyOptions reading = tables::bodyOptions(*exposure_, query, options, lease);
    tables::Body rows;
    if (method != "DELETE" &&
        !tables::readBody(one.body, tables::BodyFormat::kJson, table, reading, rows, problem))
      return nullptr;
    return tables::planWrite(table, *exposure_, std::move(query), std::move(options), std::move(rows),
                             problem);
  }

  void perform(tables::Operation& operation) {
    db::Statement statement;
    bool looks = transaction;
    while ((looks = looks && operation.look(statement)) || operation.next(statement)) {
      sent.push_back(statementText(statement));
      Scripted answer;
      if (!script_.empty()) answer = std::move(script_.front()), script_.pop_front();
      if (answer.error == 0 || !answer.rows.empty()) give(operation, answer);
      if (answer.error == 0) {
        operation.onResult(outcomeOf(answer));
      } else if (!operation.onError({db::ErrorKind::kStatement, answer.error, "23000", "", 0})) {
        break;
      }
    }
    tables::OperationResult& result = operation.result();
    range = result.content_range;
    body = result.body;
    announcement = result.announcement;
    end = operation.failed() ? fmt::format("{} {}", operation.problem().status, operation.problem().code)
                             : fmt::format("{} {} {}", result.status, result.rows, result.location);
    while (!end.empty() && end.back() == ' ') end.pop_back();
  }

  static void give(tables::Operation& operation, const Scripted& answer) {
    const size_t width = answer.rows.empty() ? 0 : answer.rows[0].size();
    db::ResultColumns columns(width);
    for (db::ResultColumn& column : columns) column.type = db::Type::kInt;
    if (width != 0) operation.onColumns(columns);
    for (const std::vector<int64_t>& row : answer.rows) {
      std::vector<db::Cell> cells;
      for (const int64_t& number : row)
        cells.push_back({reinterpret_cast<const char*>(&number), sizeof number});
      operation.onRow(db::Row(cells.data(), cells.size()));
    }
  }
  static db::Outcome outcomeOf(const Scripted& answer) {
    db::Outcome outcome;
    outcome.affected_rows = answer.affected;
    outcome.insert_id = answer.insert_id;
    return outcome;
  }

  const std::shared_ptr<const tables::Exposure> exposure_;
  std::deque<Scripted> script_;
};

}  // namespace roost::test
