// Statements as text for comparing: "`id` = ? | 17".
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "db/value.h"

namespace roost::test {

inline std::string valueText(const db::Value& value) {
  switch (value.kind()) {
    case db::Value::Kind::kNull:
      return "NULL";
    case db::Value::Kind::kInt:
      return fmt::format("{}", value.asInt());
    case db::Value::Kind::kUint:
      return fmt::format("{}u", value.asUint());
    case db::Value::Kind::kDouble:
      return fmt::format("{}d", value.asDouble());
    case db::Value::Kind::kText:
      return "'" + value.bytes() + "'";
    default:
      return fmt::format("bytes:{}", value.bytes().size());
  }
}

inline std::string statementText(const db::Statement& statement) {
  std::string out(statement.text.view());
  for (const db::Value& value : statement.values)
    out += (&value == &statement.values.front() ? " | " : ", ") + valueText(value);
  return out;
}

}  // namespace roost::test
