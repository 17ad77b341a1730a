#include "tables/named_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roost::tables {
namespace {

bool startsName(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool goesOn(char c) noexcept {
  return startsName(c) || (c >= '0' && c <= '9');
}
bool isBlank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

class Reader {
 public:
  Reader(std::string_view sql, const std::vector<std::string>& names) noexcept : sql_(sql), names_(names) {}

  Result<NamedSql> read() {
    while (at_ < sql_.size() && fault_.empty()) step();
    while (!out_.empty() && isBlank(out_.back())) out_.pop_back();
    if (fault_.empty() && made_.first_word.empty()) fail("holds no statement");
    if (!fault_.empty()) return Status::error(fault_);
    made_.text = db::SqlText::ofConfiguration(std::move(out_));
    return std::move(made_);
  }

 private:
  char peek(size_t ahead = 0) const noexcept { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }
  void fail(std::string_view what) { fault_ = fmt::format("{} (character {})", what, at_ + 1); }
  void keep(size_t count) {
    count = std::min(count, sql_.size() - at_);
    out_.append(sql_.substr(at_, count));
    at_ += count;
  }

  void step() {
    const char c = peek();
    if (c == '\'' || c == '"' || c == '`') return quoted(c);
    if (c == '#' || (c == '-' && peek(1) == '-' && (isBlank(peek(2)) || peek(2) == '\0'))) return line();
    if (c == '/' && peek(1) == '*') return comment();
    if (isBlank(c)) return keep(1);
    if (ended_) return fail("holds a second statement: make it a list of them");
    if (c == ';') {
      ended_ = true;
      ++at_;
      return;
    }
    if (c == '?') return fail("holds a '?': give the parameter a name");
    if (c == ':' && peek(1) == ':') return keep(2);
    if (c == ':' && startsName(peek(1))) return name();
    if (startsName(c)) return word();
    begin("");
    made_.tokens.emplace_back(1, c);
    keep(1);
  }

  static std::string inCapitals(std::string_view word) {
    std::string text(word);
    for (char& c : text)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
  }

  void begin(std::string_view word) {
    if (!made_.first_word.empty()) return;
    // "(SELECT ...) UNION ..." begins with what is in the brackets.
    if (word.empty() && peek() == '(') return;
    made_.first_word = word.empty() ? std::string(1, peek()) : inCapitals(word);
  }

  void word() {
    size_t length = 1;
    while (goesOn(peek(length)) || peek(length) == '$') ++length;
    begin(sql_.substr(at_, length));
    made_.tokens.push_back(inCapitals(sql_.substr(at_, length)));
    keep(length);
  }

  void name() {
    size_t length = 1;
    while (goesOn(peek(length))) ++length;
    const std::string_view name = sql_.substr(at_ + 1, length - 1);
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return fail(fmt::format("names :{}, which is not among its parameters", name));
    begin("?");
    made_.tokens.emplace_back("?");
    made_.arguments.push_back(static_cast<uint16_t>(found - names_.begin()));
    out_ += '?';
    at_ += length;
  }

  void quoted(char quote) {
    begin(std::string_view(&quote, 1));
    made_.tokens.emplace_back(1, quote);
    size_t length = 1;
    while (at_ + length < sql_.size() && peek(length) != quote)
      length += peek(length) == '\\' && quote != '`' ? 2 : 1;
    if (at_ + length >= sql_.size()) return fail(fmt::format("has a {} without its end", quote));
    keep(length + 1);  // a doubled quote begins another one, which is the same
  }

  // Comments are left out, but for those that the server executes.
  void line() {
    while (at_ < sql_.size() && sql_[at_] != '\n') ++at_;
  }
  void comment() {
    const size_t end = sql_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return fail("has a /* without its */");
    if (peek(2) == '!' || (peek(2) == 'M' && peek(3) == '!'))
      return fail("has a comment that the server executes");
    if (peek(2) == '+') return keep(end + 2 - at_);  // a hint for the optimizer
    out_ += ' ';
    at_ = end + 2;
  }

  const std::string_view sql_;
  const std::vector<std::string>& names_;
  size_t at_ = 0;
  bool ended_ = false;
  std::string out_;
  std::string fault_;
  NamedSql made_;
};

}  // namespace

Result<NamedSql> readNamedSql(std::string_view sql, const std::vector<std::string>& names) {
  return Reader(sql, names).read();
}

}  // namespace roost::tables
