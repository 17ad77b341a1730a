#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace re2 {
class RE2;
}

namespace roost::http {

// What the groups of an expression, or the parts in braces of a route's path, stand for. `names` and `values`
// go together; both are borrowed.
struct Captures {
  static constexpr size_t kMost = 8;
  const std::vector<std::string>* names = nullptr;
  std::array<std::string_view, kMost> values;

  // Empty where there is none of that name, or it took no part in the match.
  std::string_view get(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept;
};

// A regular expression for paths, in the syntax of RE2: matching takes time linear in the path, whatever the
// expression. It looks for a match anywhere in the path; ^ and $ stand for its ends. Paths are bytes and need
// not be UTF-8: one byte is one character, so that "." and "[^/]" leave nothing out. A character beyond ASCII
// is several bytes, which is no matter outside of brackets.
//
// Immutable; any thread.
class PathRegex {
 public:
  // Errors: what is no expression, one that takes more than kMaxMemoryBytes, more groups than
  // Captures::kMost.
  static constexpr int kMaxMemoryBytes = 1 << 20;
  static Result<PathRegex> compile(const std::string& text);

  PathRegex(PathRegex&&) noexcept;
  PathRegex& operator=(PathRegex&&) noexcept;
  ~PathRegex();

  const std::string& text() const noexcept;
  // One for each group: its name, or its number ("1", "2") where it has none.
  const std::vector<std::string>& names() const noexcept { return names_; }
  // What every path begins with that this fits: found in the text, "" where that does not say.
  const std::string& prefix() const noexcept { return prefix_; }
  // Whether it fits; `captures` are pieces of `path`.
  bool match(std::string_view path, Captures& captures) const noexcept;

 private:
  explicit PathRegex(std::unique_ptr<re2::RE2> regex) noexcept;

  std::unique_ptr<re2::RE2> regex_;
  std::vector<std::string> names_;
  std::string prefix_;
};

// The first of many expressions that fits, found in one pass over the path. Immutable; any thread.
class PathRegexList {
 public:
  static constexpr size_t kNone = SIZE_MAX;
  // Errors: more than kMost.
  static constexpr size_t kMost = 1024;
  static Result<PathRegexList> build(std::vector<PathRegex> regexes);

  PathRegexList() noexcept;
  PathRegexList(PathRegexList&&) noexcept;
  PathRegexList& operator=(PathRegexList&&) noexcept;
  ~PathRegexList();

  bool empty() const noexcept { return regexes_.empty(); }
  const PathRegex& at(size_t index) const noexcept { return regexes_[index]; }
  // The index of the first that fits, kNone where none does. Where all of them have a prefix(), only those
  // whose fits the path are matched.
  size_t find(std::string_view path, Captures& captures) const noexcept;

 private:
  struct Set;  // of RE2
  // Expressions whose prefix() begins with this one.
  struct Group {
    std::string prefix;
    std::vector<size_t> regexes;  // in their order
  };
  void groupByPrefix();
  const Group* groupOf(std::string_view path) const noexcept;
  size_t findInTurn(const std::vector<size_t>& among, std::string_view path,
                    Captures& captures) const noexcept;

  std::vector<PathRegex> regexes_;
  std::vector<Group> groups_;  // sorted, no prefix begins with another; one without, where any path may fit
  std::unique_ptr<const Set> set_;  // nullptr: few enough to be tried in turn
};

}  // namespace roost::http
