#include "http/escape.h"

namespace roost::http {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

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
