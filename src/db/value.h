// What travels beside a statement's text: the values of its parameters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/sql_text.h"

namespace roost::db {

// One parameter. Text is UTF-8; decimals, dates, times and JSON documents travel as text and are read by the
// server, in the session's time zone.
class Value {
 public:
  enum class Kind : uint8_t { kNull, kInt, kUint, kDouble, kText, kBytes };

  Value() noexcept = default;  // NULL
  static Value null() noexcept { return {}; }
  static Value ofInt(int64_t number) noexcept;
  static Value ofUint(uint64_t number) noexcept;
  static Value ofDouble(double number) noexcept;
  static Value ofText(std::string text) noexcept;
  static Value ofBytes(std::string bytes) noexcept;  // of the binary character set

  Kind kind() const noexcept { return kind_; }
  bool isNull() const noexcept { return kind_ == Kind::kNull; }
  int64_t asInt() const noexcept { return number_.i; }          // REQUIRES: kInt
  uint64_t asUint() const noexcept { return number_.u; }        // REQUIRES: kUint
  double asDouble() const noexcept { return number_.d; }        // REQUIRES: kDouble
  const std::string& bytes() const noexcept { return bytes_; }  // kText, kBytes; of others empty
  const void* number() const noexcept { return &number_; }  // 8 bytes, host order; REQUIRES: one of the three

 private:
  Kind kind_ = Kind::kNull;
  union {
    int64_t i;
    uint64_t u;
    double d;
  } number_ = {0};
  std::string bytes_;
};

// A text and its parameters, as many as it has marks.
struct Statement {
  SqlText text;
  std::vector<Value> values;
};

}  // namespace roost::db
