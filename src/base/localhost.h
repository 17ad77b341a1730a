#pragma once

#include <string_view>

namespace roost {

// Whether a host name is "localhost" or below it, with or without a dot at its end. Such a name is this
// machine's loopback address, whatever the system's files and name servers say, and no name server is asked
// for it (RFC 6761 section 6.3).
inline bool isLocalhost(std::string_view name) noexcept {
  constexpr std::string_view kName = "localhost";
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  if (name.size() < kName.size()) return false;
  const std::string_view end = name.substr(name.size() - kName.size());
  for (size_t i = 0; i < end.size(); ++i) {
    if ((static_cast<unsigned char>(end[i]) | 0x20U) != static_cast<unsigned char>(kName[i])) return false;
  }
  return name.size() == kName.size() || name[name.size() - kName.size() - 1] == '.';
}

}  // namespace roost
