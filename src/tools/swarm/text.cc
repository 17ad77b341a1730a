#include "tools/swarm/text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace roost::swarm {

namespace {

// Three digits that count.
std::string threeDigits(double value) {
  return fmt::format(value < 9.995 ? "{:.2f}" : value < 99.95 ? "{:.1f}" : "{:.0f}", value);
}

}  // namespace

std::string withUnit(uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 999'500) return threeDigits(value / 1e3) + " µs";
  if (ns < 999'500'000) return threeDigits(value / 1e6) + " ms";
  return threeDigits(value / 1e9) + " s";
}

std::string bytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  const char* sign = bytes < 0 ? "-" : "";
  double value = std::fabs(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{}{} {}", sign, unit == 0 ? fmt::format("{:.0f}", value) : threeDigits(value),
                     kUnits[unit]);
}

std::string clockText(double s) {
  const auto whole = static_cast<uint64_t>(std::ceil(s > 0 ? s : 0));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string jsonText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace roost::swarm
