#include "http/target.h"

#include <array>
#include <cstring>

#include "base/hex.h"

namespace roost::http {

namespace {

enum CharClass : uint8_t { kOrdinary, kSlash, kPercent, kControlChar };

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> classes{};
  for (size_t c = 0; c < 0x20; ++c) classes[c] = kControlChar;
  classes[0x7f] = kControlChar;
  classes['/'] = kSlash;
  classes['%'] = kPercent;
  return classes;
}

constexpr std::array<int8_t, 256> makeHexValues() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  for (size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<int8_t>(i);
  for (size_t i = 0; i < 6; ++i) {
    values['a' + i] = static_cast<int8_t>(10 + i);
    values['A' + i] = static_cast<int8_t>(10 + i);
  }
  return values;
}

constexpr std::array<bool, 256> makeUnescaped() {
  std::array<bool, 256> plain{};
  for (size_t c = '0'; c <= '9'; ++c) plain[c] = true;
  for (size_t c = 'a'; c <= 'z'; ++c) plain[c] = true;
  for (size_t c = 'A'; c <= 'Z'; ++c) plain[c] = true;
  for (const char c : std::string_view("-._~!$&'()*+,;=:@/")) plain[static_cast<uint8_t>(c)] = true;
  return plain;
}

constexpr std::array<uint8_t, 256> kClasses = makeClasses();
constexpr std::array<int8_t, 256> kHexValues = makeHexValues();
constexpr std::array<bool, 256> kUnescaped = makeUnescaped();

constexpr uint8_t byteOf(char c) noexcept {
  return static_cast<uint8_t>(c);
}

// Writes one decoded segment after another and keeps the result canonical.
class PathWriter {
 public:
  PathWriter(char* out, DecodedPath& path) noexcept : out_(out), at_(out), path_(path) {}

  // Decodes [in, end) up to a '/' or the end; returns where it stopped, nullptr on an error.
  const char* segment(const char* in, const char* end) noexcept {
    segment_ = at_;
    while (in != end) {
      const char c = *in;
      const uint8_t char_class = kClasses[byteOf(c)];
      if (char_class == kOrdinary) {
        *at_++ = c;
        ++in;
      } else if (char_class == kSlash) {
        break;
      } else if (char_class == kPercent) {
        if (!escape(in, end)) return nullptr;
        in += 3;
      } else {
        path_.error = PathError::kControl;
        return nullptr;
      }
    }
    return in;
  }

  // Ends the segment just written; `slash` says that one follows it.
  bool finishSegment(bool slash) noexcept {
    const size_t len = static_cast<size_t>(at_ - segment_);
    if (len == 0) return true;  // "//", or the end after a slash
    if (segment_[0] == '.') {
      if (len == 1) {
        at_ = segment_;
        return true;
      }
      if (len == 2 && segment_[1] == '.') return dropLast();
      if (path_.dot_segment_len == 0) {
        path_.dot_segment_off = static_cast<uint32_t>(segment_ - out_);
        path_.dot_segment_len = static_cast<uint32_t>(len);
      }
    }
    if (slash) *at_++ = '/';
    return true;
  }

  void slash() noexcept { *at_++ = '/'; }
  size_t size() const noexcept { return static_cast<size_t>(at_ - out_); }

 private:
  bool escape(const char* in, const char* end) noexcept {
    if (end - in < 3) return fail(PathError::kBadEscape);
    const int high = kHexValues[byteOf(in[1])];
    const int low = kHexValues[byteOf(in[2])];
    if (high < 0 || low < 0) return fail(PathError::kBadEscape);
    const char c = static_cast<char>(high << 4 | low);
    if (c == '/') return fail(PathError::kEncodedSlash);
    if (kClasses[byteOf(c)] == kControlChar) return fail(PathError::kControl);
    *at_++ = c;
    return true;
  }

  // ".." after "/a/b/": back to "/a/".
  bool dropLast() noexcept {
    at_ = segment_ - 1;  // on the slash before the ".."
    if (at_ == out_) return fail(PathError::kAboveRoot);
    while (at_[-1] != '/') --at_;
    if (path_.dot_segment_len != 0 && path_.dot_segment_off >= size()) {
      path_.dot_segment_off = 0;
      path_.dot_segment_len = 0;
    }
    return true;
  }

  bool fail(PathError error) noexcept {
    path_.error = error;
    return false;
  }

  char* out_;
  char* at_;
  char* segment_ = nullptr;  // where the current segment begins, just after a slash
  DecodedPath& path_;
};

}  // namespace

std::string_view pathErrorText(PathError error) noexcept {
  switch (error) {
    case PathError::kNone:
      return "no error";
    case PathError::kNotAbsolute:
      return "the path does not begin with a slash";
    case PathError::kBadEscape:
      return "a percent sign without two hexadecimal digits";
    case PathError::kControl:
      return "a control character in the path";
    case PathError::kEncodedSlash:
      return "an encoded slash in the path";
    case PathError::kAboveRoot:
      return "the path climbs above the root";
    case PathError::kTooLong:
      return "the path is too long";
  }
  return "unknown error";
}

DecodedPath decodePath(std::string_view raw, char* out, size_t capacity) noexcept {
  DecodedPath path;
  if (raw.empty() || raw[0] != '/') {
    path.error = PathError::kNotAbsolute;
    return path;
  }
  if (raw.size() >= capacity || raw.size() > UINT32_MAX) {
    path.error = PathError::kTooLong;
    return path;
  }
  PathWriter writer(out, path);
  const char* in = raw.data() + 1;
  const char* const end = raw.data() + raw.size();
  writer.slash();
  for (;;) {
    in = writer.segment(in, end);
    if (in == nullptr) return path;
    if (!writer.finishSegment(in != end)) return path;
    if (in == end) break;
    ++in;  // the slash
  }
  path.size = static_cast<uint32_t>(writer.size());
  out[path.size] = '\0';
  path.ends_with_slash = out[path.size - 1] == '/';
  path.changed = path.size != raw.size() || std::memcmp(out, raw.data(), raw.size()) != 0;
  return path;
}

void appendPercentEncoded(std::string& out, char c) {
  out += '%';
  out += kUpperHexDigits[byteOf(c) >> 4];
  out += kUpperHexDigits[byteOf(c) & 15];
}

void appendEncodedPath(std::string& out, std::string_view path) {
  for (const char c : path) {
    if (kUnescaped[byteOf(c)]) {
      out += c;
    } else {
      appendPercentEncoded(out, c);
    }
  }
}

}  // namespace roost::http
