#include <algorithm>

#include "config/reader.h"

namespace roost::config {
namespace {

bool isSpace(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isPunctuation(char c) noexcept {
  return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

// One pass over the text. Everything it does not understand it leaves alone: the parser will say what is
// wrong with it.
class Blanker {
 public:
  Blanker(std::string& text, std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  std::optional<SyntaxError> run() {
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) blank(0, 3);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (isSpace(c)) {
        ++at_;
      } else if (c == '\0') {
        return SyntaxError{at_, "a NUL byte: this is not a text file"};
      } else if (c == '/' && next() == '/') {
        blank(at_, std::min(text_.find('\n', at_), text_.size()));
      } else if (c == '/' && next() == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) return SyntaxError{at_, "this comment is never closed with */"};
        blank(at_, end + 2);
      } else if (c == '#') {
        return SyntaxError{at_, "comments begin with // or stand between /* and */, not behind #"};
      } else if (c == '"') {
        tokens_.push_back({at_, true});
        skipString();
      } else if (isPunctuation(c)) {
        punctuation(c);
      } else {
        tokens_.push_back({at_, true});
        for (++at_; at_ < text_.size() && !endsWord(text_[at_]);) ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  char next() const noexcept { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  static bool endsWord(char c) noexcept {
    return isSpace(c) || isPunctuation(c) || c == '"' || c == '/' || c == '\0';
  }

  void blank(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      if (text_[i] != '\n' && text_[i] != '\r') text_[i] = ' ';
    }
    at_ = to;
  }

  // Ends behind the closing quote, or at a line end: JSON strings hold none, so the rest is outside again.
  void skipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && next() != '\n' && at_ + 1 < text_.size()) {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return;
      }
    }
  }

  void punctuation(char c) {
    if ((c == '}' || c == ']') && tokens_.size() >= 2) {
      // Only a comma that follows a value: "[,]" stays the mistake it is.
      const size_t last = tokens_.back().offset;
      const char before = text_[tokens_[tokens_.size() - 2].offset];
      if (text_[last] == ',' && before != ',' && before != '{' && before != '[' && before != ':') {
        text_[last] = ' ';
        tokens_.pop_back();
      }
    }
    tokens_.push_back({at_, c == '{' || c == '['});
    ++at_;
  }

  std::string& text_;
  std::vector<Token>& tokens_;
  size_t at_ = 0;
};

}  // namespace

std::optional<SyntaxError> blankExtensions(std::string& text, std::vector<Token>& tokens) {
  return Blanker(text, tokens).run();
}

}  // namespace roost::config
