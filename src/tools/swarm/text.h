// Numbers as people read them. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roost::swarm {

std::string withUnit(uint64_t ns);    // 412 µs, 1.25 ms, 89.0 s
std::string bytesText(double bytes);  // 158 B, 4.1 KB, 98.2 MB (powers of 1000)
std::string clockText(double s);      // 0:07, 1:02:03
// A string of JSON, quotes included.
std::string jsonText(std::string_view text);

}  // namespace roost::swarm
