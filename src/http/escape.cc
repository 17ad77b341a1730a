#include "http/escape.h"

namespace roost::http {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

unsigned byteAt(std::string_view text, size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

bool isControl(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string_view htmlReference(char c) noexcept {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

void appendJsonCharacter(std::string& out, char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (isControl(c)) {
    out += "\\u00";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[c & 15];
  } else {
    out += c;
  }
}

// Appends one character after the other, one of ASCII by put(c).
template <class Put>
void appendCharacters(std::string& out, std::string_view text, Put&& put) {
  while (!text.empty()) {
    const size_t size = utf8Size(text);
    if (size == 1) {
      put(text.front());
    } else {
      out += size == 0 ? kReplacement : text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

}  // namespace

size_t utf8Size(std::string_view text) noexcept {
  const unsigned first = byteAt(text, 0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byteAt(text, i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byteAt(text, 1);
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool too_high = first == 0xf4 && second > 0x8f;
  return too_long || surrogate || too_high ? 0 : size;
}

void appendHtml(std::string& out, std::string_view text) {
  appendCharacters(out, text, [&out](char c) {
    const std::string_view reference = htmlReference(c);
    if (!reference.empty()) {
      out += reference;
    } else if (isControl(c)) {
      out += kReplacement;
    } else {
      out += c;
    }
  });
}

void appendJson(std::string& out, std::string_view text) {
  out += '"';
  appendCharacters(out, text, [&out](char c) { appendJsonCharacter(out, c); });
  out += '"';
}

}  // namespace roost::http
