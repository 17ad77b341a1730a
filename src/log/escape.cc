// What keeps a value from outside from looking like something else: a line, a terminal command, the end of a
// JSON string.
#include "log/escape.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "log/line_formatter.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace roost::log::detail {
namespace {

constexpr size_t kBlock = 16;

#if defined(__SSE2__)
// One bit for each of 16 bytes that is not printable ASCII or, if asked for, is a quote or a backslash.
unsigned specialBits(const char* at, bool json) noexcept {
  const __m128i quote = _mm_set1_epi8(json ? '"' : 0x7f), backslash = _mm_set1_epi8(json ? '\\' : 0x7f);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  // Signed: bytes from 0x80 on are below the space too.
  const __m128i special = _mm_or_si128(
      _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))),
      _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
  return static_cast<unsigned>(_mm_movemask_epi8(special));
}
#endif

bool isPlain(unsigned char c, bool json) noexcept {
  return c >= 0x20 && c < 0x7f && !(json && (c == '"' || c == '\\'));
}

// Offset of the first byte at or after start that is not printable ASCII (or, in JSON, is a quote or a
// backslash). REQUIRES: out has a block's capacity behind its end.
size_t findSpecial(const LineBuffer& out, size_t start, bool json) noexcept {
  size_t at = start;
  const size_t end = out.size();
#if defined(__SSE2__)
  for (; at < end; at += kBlock) {
    if (const unsigned bits = specialBits(out.data() + at, json); bits != 0) {
      at += static_cast<size_t>(__builtin_ctz(bits));
      return at < end ? at : end;
    }
  }
  return end;
#else
  while (at < end && isPlain(static_cast<unsigned char>(out[at]), json)) ++at;
  return at;
#endif
}

// The code point at the front of text and its length, by RFC 3629; length 0 where the bytes are not UTF-8.
struct CodePoint {
  uint32_t value;
  size_t length;
};
CodePoint decodeUtf8(std::string_view text) noexcept {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xc2 ? 0
                        : lead < 0xe0 ? 2
                        : lead < 0xf0 ? 3
                        : lead < 0xf5 ? 4
                                      : 0;
  if (length == 0 || length > text.size()) return {0, 0};
  if (length == 1) return {lead, 1};
  uint32_t value = lead & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    value = value << 6 | (byte(i) & 0x3fU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[length] || value > 0x10ffff || surrogate) return {0, 0};
  return {value, length};
}

// C1 controls (among them a line break, U+0085) and the line and paragraph separators.
bool mustEscape(uint32_t code_point) noexcept {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
         code_point == 0x2029;
}

void appendEscaped(std::string& to, CodePoint c, bool json) {
  switch (c.value) {
    case '\n':
      to += "\\n";
      return;
    case '\r':
      to += "\\r";
      return;
    case '\t':
      to += "\\t";
      return;
    default:
      break;
  }
  if (json || c.value > 0xff) {
    fmt::format_to(std::back_inserter(to), FMT_STRING("\\u{:04x}"), c.value);
  } else {
    fmt::format_to(std::back_inserter(to), FMT_STRING("\\x{:02x}"), c.value);
  }
}

std::string escaped(std::string_view text, bool json) {
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const CodePoint c = decodeUtf8(text);
    if (isPlain(first, json)) {
      result += text.front();
    } else if (c.length == 0 && json) {
      result += "\\ufffd";
    } else if (c.length == 0) {
      fmt::format_to(std::back_inserter(result), FMT_STRING("\\x{:02x}"), first);
    } else if (mustEscape(c.value)) {
      appendEscaped(result, c, json);
    } else {
      if (c.length == 1) result += '\\';  // a quote or a backslash in JSON
      result.append(text.substr(0, c.length));
    }
    text.remove_prefix(c.length == 0 ? 1 : c.length);
  }
  return result;
}

}  // namespace

bool isHarmlessText(std::string_view text) noexcept {
#if defined(__SSE2__)
  if (text.size() >= kBlock) {
    size_t at = 0;
    for (; at + kBlock <= text.size(); at += kBlock) {
      if (specialBits(text.data() + at, true) != 0) return false;
    }
    return specialBits(text.data() + text.size() - kBlock, true) == 0;  // overlaps what was looked at
  }
#endif
  for (const char c : text) {
    if (!isHarmless(c)) return false;
  }
  return true;
}

void escapeFrom(LineBuffer& out, size_t start, Format format) {
  const bool json = format == Format::kJson;
  out.reserve(out.size() + kBlock);
  const size_t special = findSpecial(out, start, json);
  if (special == out.size()) return;
  const std::string rest = escaped({out.data() + special, out.size() - special}, json);
  out.resize(special);
  out.append(rest.data(), rest.data() + rest.size());
}

}  // namespace roost::log::detail

namespace roost::log {
namespace {

constexpr size_t kBlockBytes = kEscapeSlack;

// Copies up to the first byte that is special, at most `size`; returns how many bytes that were.
size_t copyPlain(char* to, const char* text, size_t size) noexcept {
  size_t done = 0;
#if defined(__SSE2__)
  for (; done < size; done += kBlockBytes) {
    const unsigned bits = detail::specialBits(text + done, true);
    std::memcpy(to + done, text + done, kBlockBytes);
    if (bits == 0) continue;
    done += static_cast<size_t>(__builtin_ctz(bits));
    break;
  }
  return done < size ? done : size;
#else
  for (; done < size && detail::isHarmless(text[done]); ++done) to[done] = text[done];
  return done;
#endif
}

char* putHex(char* to, unsigned value, size_t digits) noexcept {
  for (size_t i = digits; i > 0; --i, value >>= 4) to[i - 1] = "0123456789ABCDEF"[value & 15];
  return to + digits;
}

char* put(char* to, std::string_view text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// One code point that is not plain, or one byte that is no UTF-8; `text` is moved behind it.
char* putJsonSpecial(char* to, std::string_view& text) noexcept {
  const detail::CodePoint c = detail::decodeUtf8(text);
  const size_t taken = c.length == 0 ? 1 : c.length;
  if (c.length == 0) {
    to = put(to, "\\ufffd");
  } else if (c.value == '"' || c.value == '\\') {
    *to++ = '\\';
    *to++ = text.front();
  } else if (c.value == '\n' || c.value == '\r' || c.value == '\t') {
    to = put(to, c.value == '\n' ? "\\n" : c.value == '\r' ? "\\r" : "\\t");
  } else if (detail::mustEscape(c.value)) {
    to = putHex(put(to, "\\u"), c.value, 4);
  } else {
    to = put(to, text.substr(0, taken));
  }
  text.remove_prefix(taken);
  return to;
}

}  // namespace

char* putJsonEscaped(char* to, const char* text, size_t size) noexcept {
  std::string_view rest(text, size);
  for (;;) {
    const size_t plain = copyPlain(to, rest.data(), rest.size());
    to += plain;
    rest.remove_prefix(plain);
    if (rest.empty()) return to;
    to = putJsonSpecial(to, rest);
  }
}

char* putHexEscaped(char* to, const char* text, size_t size) noexcept {
  for (;;) {
    const size_t plain = copyPlain(to, text, size);
    to += plain;
    text += plain;
    size -= plain;
    if (size == 0) return to;
    to = putHex(put(to, "\\x"), static_cast<unsigned char>(*text), 2);
    ++text;
    --size;
  }
}

}  // namespace roost::log
