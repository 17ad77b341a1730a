// The text of a statement. It is put together of literals of this program, of marks for parameters and of
// identifiers that a loaded schema knows; there is no way to put a value of a client into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace roost::db {

// The name of a table or column as a statement writes it, in backticks. Made only of names that the database
// itself has told (a catalog).
class Identifier {
 public:
  Identifier() = default;
  static Identifier ofSchema(std::string_view name);  // quotes it; whoever calls this read it from the schema
  std::string_view quoted() const noexcept { return text_; }

 private:
  std::string text_;
};

class SqlText {
 public:
  SqlText() = default;
  template <size_t N>
  explicit SqlText(const char (&literal)[N]) : text_(literal, N - 1) {}
  // A statement that stands in the configuration, written by who runs the server.
  static SqlText ofConfiguration(std::string text) {
    SqlText made;
    made.text_ = std::move(text);
    return made;
  }

  template <size_t N>
  SqlText& operator<<(const char (&literal)[N]) {
    text_.append(literal, N - 1);
    return *this;
  }
  SqlText& operator<<(const Identifier& name) {
    text_.append(name.quoted());
    return *this;
  }
  SqlText& operator<<(const SqlText& part) {
    text_.append(part.text_);
    return *this;
  }
  SqlText& marks(size_t count);  // "?,?,?"

  bool empty() const noexcept { return text_.empty(); }
  std::string_view view() const noexcept { return text_; }
  void reserve(size_t bytes) { text_.reserve(bytes); }

 private:
  std::string text_;
};

}  // namespace roost::db
