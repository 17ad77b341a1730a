// The path rules of http/target.h once more, written for clarity and with strings, to compare against.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::http::test {

inline int naiveHex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The canonical path, or nothing where it must be refused.
inline std::optional<std::string> naivePath(std::string_view raw) {
  if (raw.empty() || raw[0] != '/') return std::nullopt;
  std::string decoded;
  for (size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '%') {
      if (i + 2 >= raw.size() || naiveHex(raw[i + 1]) < 0 || naiveHex(raw[i + 2]) < 0) return std::nullopt;
      c = static_cast<char>(naiveHex(raw[i + 1]) * 16 + naiveHex(raw[i + 2]));
      if (c == '/') return std::nullopt;
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    decoded += c;
  }
  std::vector<std::string> segments;
  std::string segment;
  bool directory = false;
  for (size_t i = 1; i <= decoded.size(); ++i) {
    if (i < decoded.size() && decoded[i] != '/') {
      segment += decoded[i];
      continue;
    }
    directory = i < decoded.size() || segment.empty() || segment == "." || segment == "..";
    if (segment == "..") {
      if (segments.empty()) return std::nullopt;
      segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
    segment.clear();
  }
  std::string out;
  for (const std::string& part : segments) out += "/" + part;
  if (directory || out.empty()) out += "/";
  return out;
}

}  // namespace roost::http::test
