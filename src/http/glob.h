// Patterns for paths. Pure functions, any thread.
#pragma once

#include <string_view>

namespace roost::http {

// Whether a canonical path fits a pattern: "*" stands for any characters but '/', "**" for any at all, "?"
// for one that is not '/'; everything else for itself. A pattern without '/' is compared with the path's
// last segment alone: "*.css". No allocation; time at most in proportion to the square of the path's length.
bool globMatches(std::string_view pattern, std::string_view path) noexcept;

}  // namespace roost::http
