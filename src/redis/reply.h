// A Redis reply, as the protocol (RESP2) has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roost::redis {

// A plain value. Strings are bytes, not text.
struct Reply {
  enum class Type : uint8_t { kNil, kInteger, kString, kStatus, kError, kArray };

  Type type = Type::kNil;
  int64_t integer = 0;          // of kInteger
  std::string text;             // of kString, kStatus ("OK") and kError ("WRONGTYPE ...")
  std::vector<Reply> elements;  // of kArray

  bool isNil() const noexcept { return type == Type::kNil; }
  bool isError() const noexcept { return type == Type::kError; }
  bool isOk() const noexcept { return type == Type::kStatus && text == "OK"; }
};

}  // namespace roost::redis
