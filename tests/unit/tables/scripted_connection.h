#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/connection.h"

namespace roost::tables {

// A database of which a test says what information_schema has.
struct ScriptedSchema {
  using Cells = std::vector<std::optional<std::string>>;
  std::map<std::string, std::vector<Cells>> rows;  // by "TABLES", "COLUMNS", ...
  std::string fingerprint = "1";
  std::deque<std::string> fingerprints;  // answered first
  bool is_mariadb = true;
  std::string version = "10.11.6-MariaDB";
  std::function<bool(db::Error&)> fails;  // asked before each statement; true: it fails so
  int statements = 0;
  std::vector<std::string> asked;  // their texts
};

class ScriptedConnection final : public db::Connection {
 public:
  explicit ScriptedConnection(ScriptedSchema& schema) : schema_(schema) {}

  bool run(const db::Statement& statement, const OnRow& on_row, db::Error& error) override {
    ++schema_.statements;
    if (schema_.fails && schema_.fails(error)) return false;
    const std::string_view text = statement.text.view();
    schema_.asked.emplace_back(text);
    if (text.find("CONCAT_WS") != std::string_view::npos) {
      std::string answer = schema_.fingerprint;
      if (!schema_.fingerprints.empty()) {
        answer = schema_.fingerprints.front();
        schema_.fingerprints.pop_front();
      }
      give({answer}, on_row);
      return true;
    }
    constexpr std::string_view kFrom = "information_schema.";
    const std::string_view name = text.substr(text.find(kFrom) + kFrom.size());
    for (const auto& row : schema_.rows[std::string(name.substr(0, name.find(' ')))]) give(row, on_row);
    return true;
  }
  uint64_t threadId() const noexcept override { return 1; }
  bool isMariaDb() const noexcept override { return schema_.is_mariadb; }
  std::string serverVersion() const override { return schema_.version; }

 private:
  static void give(const ScriptedSchema::Cells& cells, const OnRow& on_row) {
    db::ResultColumns columns(cells.size());
    std::vector<db::Cell> row(cells.size());
    for (size_t at = 0; at < cells.size(); ++at) {
      columns[at].type = db::Type::kText;
      if (cells[at].has_value()) row[at] = {cells[at]->data(), cells[at]->size()};
    }
    on_row(columns, db::Row(row.data(), row.size()));
  }

  ScriptedSchema& schema_;
};

}  // namespace roost::tables
