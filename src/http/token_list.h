// Comma-separated lists in field values (RFC 9110 section 5.6.1), over one or more field lines.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/ascii.h"
#include "http/message.h"

namespace roost::http {

// Without the optional whitespace (spaces and tabs) around it.
inline std::string_view trimOws(std::string_view text) noexcept {
  const auto is_ows = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_ows(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ows(text.back())) text.remove_suffix(1);
  return text;
}

// Walks the elements of a list field from the first line to the last:
//
//   for (TokenList list(head, FieldId::kConnection); list.next();) use(list.element());
//
// Elements come without surrounding whitespace; empty ones are skipped (section 5.6.1.2). A comma inside a
// quoted-string does not separate, and a backslash there takes the next character with it (section 5.6.4); a
// quoted-string that is never closed reaches to the end of its line. What an element means is the caller's
// business; a list of entity tags needs its own reader (etag.h), as a backslash is an ordinary character in
// those.
//
// A value that borrows the head's text; any thread that may read that. No allocation.
class TokenList {
 public:
  explicit TokenList(std::string_view value) noexcept : rest_(value) {}
  TokenList(const RequestHead& head, FieldId id) noexcept : head_(&head), field_(head.find(id)) {
    if (field_ != nullptr) rest_ = head.value(*field_);
  }

  // Goes to the next element; false after the last.
  bool next() noexcept {
    for (;;) {
      while (!rest_.empty()) {
        const size_t end = elementEnd();
        element_ = trimOws(rest_.substr(0, end));
        rest_.remove_prefix(end == rest_.size() ? end : end + 1);
        if (!element_.empty()) return true;
      }
      if (field_ == nullptr) return false;
      field_ = head_->nextOf(*field_);
      if (field_ == nullptr) return false;
      rest_ = head_->value(*field_);
    }
  }

  // REQUIRES: next() was called and said true.
  std::string_view element() const noexcept { return element_; }

 private:
  // Where the comma after the first element stands, or the end of the line.
  size_t elementEnd() const noexcept {
    bool quoted = false;
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\' && quoted) {
        ++i;
      } else if (c == ',' && !quoted) {
        return i;
      }
    }
    return rest_.size();
  }

  const RequestHead* head_ = nullptr;
  const Field* field_ = nullptr;
  std::string_view rest_;
  std::string_view element_;
};

}  // namespace roost::http
