#include "db/value.h"

namespace roost::db {

Value Value::ofInt(int64_t number) noexcept {
  Value made;
  made.kind_ = Kind::kInt;
  made.number_.i = number;
  return made;
}

Value Value::ofUint(uint64_t number) noexcept {
  Value made;
  made.kind_ = Kind::kUint;
  made.number_.u = number;
  return made;
}

Value Value::ofDouble(double number) noexcept {
  Value made;
  made.kind_ = Kind::kDouble;
  made.number_.d = number;
  return made;
}

Value Value::ofText(std::string text) noexcept {
  Value made;
  made.kind_ = Kind::kText;
  made.bytes_ = std::move(text);
  return made;
}

Value Value::ofBytes(std::string bytes) noexcept {
  Value made;
  made.kind_ = Kind::kBytes;
  made.bytes_ = std::move(bytes);
  return made;
}

}  // namespace roost::db
