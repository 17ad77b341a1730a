// Reads one parameter of a query from left to right.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tables/problem.h"

namespace roost::tables {

// What is read is valid while `text` is. The first failure is told in the Problem, with the parameter's name
// and the place in its decoded value.
class Scanner {
 public:
  // `parameter` and `text` are decoded.
  Scanner(std::string_view parameter, std::string_view text, Problem& problem) noexcept
      : parameter_(parameter), text_(text), problem_(problem) {}

  bool atEnd() const noexcept { return position_ == text_.size(); }
  char peek() const noexcept { return atEnd() ? '\0' : text_[position_]; }
  bool sees(std::string_view word) const noexcept { return rest().substr(0, word.size()) == word; }
  std::string_view rest() const noexcept { return text_.substr(position_); }
  size_t position() const noexcept { return position_; }
  void rewind(size_t position) noexcept { position_ = position; }  // REQUIRES: it was there before

  bool take(char c) noexcept;
  bool take(std::string_view word) noexcept;
  std::string_view takeUntil(std::string_view stops) noexcept;  // up to one of them, or the end
  void skipSpaces() noexcept;

  // The name of a column, table or member of a JSON object: letters, digits, '_', '$', spaces within, '-' but
  // no
  // "->"; anything else in double quotes. `quoted` may be nullptr.
  bool name(std::string& out, bool* quoted = nullptr);
  // "..." with backslash before '"' and '\'.
  bool quotedText(std::string& out);

  // Tells what should stand here; false.
  bool expected(std::string_view what);
  // Tells `what` about the place `at`; false.
  bool refuse(size_t at, std::string_view code, std::string what);

  std::string_view parameter() const noexcept { return parameter_; }

 private:
  std::string_view parameter_;
  std::string_view text_;
  Problem& problem_;
  size_t position_ = 0;
};

// For messages: in quotes, cut where it is long.
std::string inQuotes(std::string_view text);

}  // namespace roost::tables
