#include "http/glob.h"

#include <cstddef>

namespace roost::http {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Where matching goes on when it has come to nothing: behind a wildcard, one more character given to it.
struct Retry {
  size_t pattern = kNone;
  size_t text = 0;
};

bool matches(std::string_view pattern, std::string_view text) noexcept {
  size_t p = 0;
  size_t t = 0;
  Retry star;
  Retry any;
  while (t < text.size() || p < pattern.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      const bool is_any = p + 1 < pattern.size() && pattern[p + 1] == '*';
      p += is_any ? 2 : 1;
      (is_any ? any : star) = {p, t};
      // Whatever stood before a "**" need not be tried again: it takes what the others could.
      if (is_any) star = {};
      continue;
    }
    if (p < pattern.size() && t < text.size() &&
        (pattern[p] == text[t] || (pattern[p] == '?' && text[t] != '/'))) {
      ++p;
      ++t;
      continue;
    }
    if (star.pattern != kNone && star.text < text.size() && text[star.text] != '/') {
      p = star.pattern;
      t = ++star.text;
    } else if (any.pattern != kNone && any.text < text.size()) {
      p = any.pattern;
      t = ++any.text;
      star = {};
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool globMatches(std::string_view pattern, std::string_view path) noexcept {
  if (pattern.find('/') == kNone) path.remove_prefix(path.rfind('/') + 1);
  return matches(pattern, path);
}

}  // namespace roost::http
