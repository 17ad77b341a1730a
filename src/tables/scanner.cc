#include "tables/scanner.h"

#include <algorithm>

#include "base/utf8.h"

namespace roost::tables {
namespace {

constexpr size_t kLongestQuoted = 64;  // bytes of a client's text that a message repeats

bool isNameCharacter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == ' ' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string inQuotes(std::string_view text) {
  std::string out = "\"";
  size_t size = 0;
  while (size < text.size()) {
    const size_t next = std::max<size_t>(utf8Size(text.substr(size)), 1);
    if (size + next > kLongestQuoted) break;
    size += next;
  }
  out += text.substr(0, size);
  out += size < text.size() ? "...\"" : "\"";
  return out;
}

bool Scanner::take(char c) noexcept {
  if (atEnd() || text_[position_] != c) return false;
  ++position_;
  return true;
}

bool Scanner::take(std::string_view word) noexcept {
  if (!sees(word)) return false;
  position_ += word.size();
  return true;
}

std::string_view Scanner::takeUntil(std::string_view stops) noexcept {
  const size_t end = std::min(text_.find_first_of(stops, position_), text_.size());
  const std::string_view taken = text_.substr(position_, end - position_);
  position_ = end;
  return taken;
}

void Scanner::skipSpaces() noexcept {
  while (peek() == ' ' || peek() == '\t') ++position_;
}

bool Scanner::name(std::string& out, bool* was_quoted) {
  skipSpaces();
  if (was_quoted != nullptr) *was_quoted = peek() == '"';
  if (peek() == '"') return quotedText(out);
  const size_t begin = position_;
  while (!atEnd()) {
    const bool dash = text_[position_] == '-' && text_.substr(position_, 2) != "->";
    if (!dash && !isNameCharacter(text_[position_])) break;
    ++position_;
  }
  size_t end = position_;
  while (end > begin && text_[end - 1] == ' ') --end;
  out = text_.substr(begin, end - begin);
  return !out.empty() || expected("a name");
}

bool Scanner::quotedText(std::string& out) {
  const size_t begin = position_;
  if (!take('"')) return expected("'\"'");
  out.clear();
  while (!atEnd()) {
    char c = text_[position_++];
    if (c == '"') return true;
    if (c == '\\') {
      if (atEnd()) break;
      c = text_[position_++];
    }
    out += c;
  }
  return refuse(begin, "bad_query", "a quote that is not closed");
}

bool Scanner::expected(std::string_view what) {
  std::string detail(what);
  detail += " is expected";
  if (atEnd()) {
    detail += ", not the end";
  } else {
    const size_t size = std::max<size_t>(utf8Size(rest()), 1);
    detail += ", not ";
    detail += inQuotes(rest().substr(0, size));
  }
  return refuse(position_, "bad_query", std::move(detail));
}

bool Scanner::refuse(size_t at, std::string_view code, std::string what) {
  problem_ = Problem{};
  problem_.code = code;
  problem_.detail = std::string(parameter_) + ", character " + std::to_string(at + 1) + ": " + what;
  return false;
}

}  // namespace roost::tables
