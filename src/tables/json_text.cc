#include "tables/json_text.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

#include "base/utf8.h"
#include "tables/text_sink.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace roost::tables {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned char byteOf(const char* at) noexcept {
  return static_cast<unsigned char>(*at);
}

// Whether a byte stands for itself in a JSON string.
constexpr std::array<bool, 256> makePlain() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = makePlain();

// What stands behind the backslash for a character that has a letter of its own; 0: none.
constexpr std::array<char, 128> makeLetters() {
  std::array<char, 128> letters{};
  letters['"'] = '"';
  letters['\\'] = '\\';
  letters['\b'] = 'b';
  letters['\f'] = 'f';
  letters['\n'] = 'n';
  letters['\r'] = 'r';
  letters['\t'] = 't';
  return letters;
}
constexpr std::array<char, 128> kLetters = makeLetters();

// How many bytes the character at `p` has; 0: it is none. REQUIRES: p < end.
size_t utf8Bytes(const char* p, const char* end) noexcept {
  return utf8Size({p, static_cast<size_t>(end - p)});
}

// The characters from `p` on that are not ASCII; returns where they end.
const char* putWide(TextSink& sink, const char* p, const char* end) {
  const char* from = p;
  while (p != end && byteOf(p) >= 0x80) {
    const size_t bytes = utf8Bytes(p, end);
    if (bytes != 0) {
      p += bytes;
      continue;
    }
    sink.put(std::string_view(from, static_cast<size_t>(p - from)));
    sink.put(kReplacement);
    from = ++p;
  }
  sink.put(std::string_view(from, static_cast<size_t>(p - from)));
  return p;
}

// A character that does not stand for itself, or a run of those that are not ASCII.
const char* putSpecial(TextSink& sink, const char* p, const char* end) {
  const unsigned char c = byteOf(p);
  if (c >= 0x80) return putWide(sink, p, end);
  char* to = sink.place(6);
  *to++ = '\\';
  if (kLetters[c] != 0) {
    *to++ = kLetters[c];
  } else {
    constexpr char kHex[] = "0123456789abcdef";
    *to++ = 'u';
    *to++ = '0';
    *to++ = '0';
    *to++ = kHex[c >> 4];
    *to++ = kHex[c & 15];
  }
  sink.used(to);
  return p + 1;
}

}  // namespace

void putJsonString(TextSink& sink, std::string_view text) {
  sink.put('"');
  const char* p = text.data();
  const char* const end = p + text.size();
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(0x20);
  while (end - p >= 16) {
    char* const to = sink.place(16);
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block);
    // Bytes count as signed: what is not ASCII is below the space as well.
    const __m128i special =
        _mm_or_si128(_mm_cmplt_epi8(block, space),
                     _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    const int plain = mask == 0 ? 16 : __builtin_ctz(mask);
    sink.used(to + plain);
    p += plain;
    if (mask != 0) p = putSpecial(sink, p, end);
  }
#endif
  while (p != end) {
    constexpr ptrdiff_t kStep = 16;
    const char* const stop = p + std::min(end - p, kStep);
    char* to = sink.place(kStep);
    while (p != stop && kPlain[byteOf(p)]) *to++ = *p++;
    sink.used(to);
    if (p != stop) p = putSpecial(sink, p, end);
  }
  sink.put('"');
}

void putCsvText(TextSink& sink, std::string_view text) {
  // Empty or NULL without quotes would be read as no value at all.
  const bool quoted =
      text.empty() || text == "NULL" || text.find_first_of("\",\r\n") != std::string_view::npos;
  if (quoted) sink.put('"');
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    if (byteOf(p) >= 0x80) {
      p = putWide(sink, p, end);
      continue;
    }
    if (*p == '"') sink.put('"');
    sink.put(*p++);
  }
  if (quoted) sink.put('"');
}

namespace {

// Reads one JSON text; keeps which of the brackets that are open are braces.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) noexcept : p_(text.data()), end_(text.data() + text.size()) {}

  bool readAll() noexcept {
    do {
      if (!readValue()) return false;
    } while (goOn());
    return ok_ && p_ == end_;
  }

 private:
  // A value up to its end, or up to the first value within it.
  bool readValue() noexcept {
    for (;;) {
      skipSpace();
      if (p_ == end_) return false;
      if (*p_ != '{' && *p_ != '[') return readScalar();
      if (depth_ == kJsonDepth) return false;
      const bool brace = *p_++ == '{';
      skipSpace();
      if (p_ != end_ && *p_ == (brace ? '}' : ']')) {
        ++p_;
        return true;
      }
      braces_[static_cast<size_t>(depth_++)] = brace;
      if (brace && !readName()) return false;
    }
  }
  // Behind a value: closes what ends here; true where another value follows.
  bool goOn() noexcept {
    for (;;) {
      skipSpace();
      if (depth_ == 0) return false;
      const bool brace = braces_[static_cast<size_t>(depth_ - 1)];
      ok_ = p_ != end_ && (*p_ == ',' || *p_ == (brace ? '}' : ']'));
      if (!ok_) return false;
      if (*p_++ != ',') {
        --depth_;
        continue;
      }
      ok_ = !brace || (skipSpace(), readName());
      return ok_;
    }
  }
  bool readName() noexcept {
    if (p_ == end_ || *p_ != '"' || !readString()) return false;
    skipSpace();
    return p_ != end_ && *p_++ == ':';
  }
  bool readScalar() noexcept {
    switch (*p_) {
      case '"':
        return readString();
      case 't':
        return readWord("true");
      case 'f':
        return readWord("false");
      case 'n':
        return readWord("null");
      default:
        return readNumber();
    }
  }
  bool readWord(std::string_view word) noexcept {
    const bool there = std::string_view(p_, static_cast<size_t>(end_ - p_)).substr(0, word.size()) == word;
    if (there) p_ += word.size();
    return there;
  }
  bool readString() noexcept {
    for (++p_; p_ != end_; ++p_) {
      const unsigned char c = byteOf(p_);
      if (kPlain[c]) continue;
      if (c == '"') {
        ++p_;
        return true;
      }
      if (c >= 0x80) {
        const size_t bytes = utf8Bytes(p_, end_);
        if (bytes == 0) return false;
        p_ += bytes - 1;
      } else if (c != '\\' || !readEscape()) {
        return false;
      }
    }
    return false;
  }
  bool readEscape() noexcept {
    if (++p_ == end_) return false;
    if (*p_ != 'u') return std::string_view("\"\\/bfnrt").find(*p_) != std::string_view::npos;
    for (int i = 0; i < 4; ++i) {
      if (++p_ == end_ || std::string_view("0123456789abcdefABCDEF").find(*p_) == std::string_view::npos)
        return false;
    }
    return true;
  }
  bool readNumber() noexcept {
    if (*p_ == '-') ++p_;
    if (p_ == end_) return false;
    if (*p_ == '0') {
      ++p_;
    } else if (!readDigits()) {
      return false;
    }
    if (p_ != end_ && *p_ == '.') {
      ++p_;
      if (!readDigits()) return false;
    }
    if (p_ == end_ || (*p_ != 'e' && *p_ != 'E')) return true;
    ++p_;
    if (p_ != end_ && (*p_ == '+' || *p_ == '-')) ++p_;
    return readDigits();
  }
  bool readDigits() noexcept {
    const char* const from = p_;
    while (p_ != end_ && *p_ >= '0' && *p_ <= '9') ++p_;
    return p_ != from;
  }
  void skipSpace() noexcept {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  }

  const char* p_;
  const char* const end_;
  std::bitset<kJsonDepth> braces_;
  int depth_ = 0;
  bool ok_ = true;
};

}  // namespace

bool isJson(std::string_view text) noexcept {
  return JsonReader(text).readAll();
}

}  // namespace roost::tables
