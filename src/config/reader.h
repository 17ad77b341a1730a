// From text to tree. For this folder only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/value.h"

namespace roost::config {

// Where the lines of a text begin, to turn offsets into lines and columns. Borrows the text.
class Lines {
 public:
  explicit Lines(std::string_view text);
  Mark mark(const std::string* file, size_t offset);  // cheap for offsets that grow, in a line of any length
  std::string excerpt(size_t offset) const;           // the line with a caret under the offset

 private:
  std::string_view lineAt(size_t index) const;
  size_t indexOf(size_t offset) const;
  std::string_view text_;
  std::vector<size_t> starts_;
  size_t counted_to_ = 0;  // the last offset asked for, and the characters before it in its line
  size_t counted_ = 0;
};

// A token's place. `is_value` tells keys and values from punctuation: the n-th of those is the n-th event of
// the parser.
struct Token {
  size_t offset;
  bool is_value;
};

// A mistake at an offset of the text.
struct SyntaxError {
  size_t offset;
  std::string message;
};

// Overwrites comments, trailing commas and a byte order mark with blanks, never changing an offset or
// touching a string, and appends where the tokens begin. An error is one that blanking alone can see (an open
// comment, a NUL).
std::optional<SyntaxError> blankExtensions(std::string& text, std::vector<Token>& tokens);

// Parses a file's text. Gives the tree, or nothing and at least one error: syntax with an excerpt, nesting
// deeper than kMaxDepth. Keys given twice are errors that leave a tree (the first stays), so that the rest
// can be checked too.
std::optional<Value> readText(std::string_view text, const std::string* file, Errors& errors);

}  // namespace roost::config
