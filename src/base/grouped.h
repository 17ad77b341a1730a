#pragma once

#include <cstdint>
#include <string>

namespace roost {

// 1,234,567: a number for people.
inline std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

}  // namespace roost
