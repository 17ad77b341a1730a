#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/cidr.h"

namespace roost::modules::access {

struct AddressLine {
  net::Cidr network;
  uint32_t line;  // from 1
};

constexpr size_t kMaxAddressFileBytes = 64 << 20;
constexpr size_t kMaxAddressLines = 1'000'000;

// A file of addresses and networks, one in a line; what follows '#' and empty lines say nothing. Errors: it
// cannot be read, is larger than kMaxAddressFileBytes, or a line is none: "path:line: what is wrong".
Result<std::vector<AddressLine>> readAddressFile(const std::string& path);
// The same of its text; `name` stands for the file in errors.
Result<std::vector<AddressLine>> parseAddressLines(std::string_view text, const std::string& name);

}  // namespace roost::modules::access
