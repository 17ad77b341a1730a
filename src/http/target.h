// The path of a request target: from its text on the wire to the one name it stands for, and back to text.
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::http {

enum class PathError : uint8_t {
  kNone,
  kNotAbsolute,   // empty, or does not begin with '/'
  kBadEscape,     // '%' without two hexadecimal digits
  kControl,       // a byte below 0x20 or 0x7f, plain or as an escape; %00 among them
  kEncodedSlash,  // %2F
  kAboveRoot,     // more ".." than segments before them
  kTooLong        // does not fit
};

// For a response's small print and the log.
std::string_view pathErrorText(PathError error) noexcept;

struct DecodedPath {
  PathError error = PathError::kNone;
  bool changed = false;          // out differs from the text as sent
  bool ends_with_slash = false;  // names a directory; "/", "/a/", "/a/." and "/a/b/.." do
  uint32_t size = 0;             // bytes at out
  // The first segment that begins with '.' (never "." or ".." themselves); len 0: there is none. Whether it
  // may be served ("/.well-known/", RFC 8615) is the caller's decision.
  uint32_t dot_segment_off = 0;
  uint32_t dot_segment_len = 0;

  bool ok() const noexcept { return error == PathError::kNone; }
};

// Turns the path of a target (without query) into the name it stands for, in one pass:
//   - every %XX becomes its byte, once: "%252e" stays "%2e";
//   - repeated slashes become one; segments "." and ".." are resolved after decoding (RFC 3986
//   section 5.2.4), so that
//     "/%2e%2e/" is "/../"; what would climb above the root is refused rather than clamped;
//   - "%2F" is refused. Decoding it would let one segment become two behind the back of whoever matched the
//   target as
//     sent (a proxy's access rule, a route); keeping it escaped would make two names of one file;
//   - control characters are refused, so a path can go into a log or a field without a second look;
//   - a backslash is a character like any other, as are bytes above 0x7f, which are not checked to be UTF-8.
// The result begins with '/' and holds no "//", no "." or ".." segment and no NUL. It is never longer than
// `raw`; a NUL is put behind it for system calls. Where there is an error, only `error` means anything.
// REQUIRES: `out` has `capacity` bytes and does not overlap `raw`. kTooLong unless capacity > raw.size().
DecodedPath decodePath(std::string_view raw, char* out, size_t capacity) noexcept;

// Appends "%XX" for a byte (RFC 3986 section 2.1).
void appendPercentEncoded(std::string& out, char c);

// Appends `path` so that it may stand in a Location field or a link: everything that is not a pchar or '/' of
// RFC 3986 section 3.3 becomes %XX. decodePath gives the same path back. Not for hot paths: the string may
// grow.
void appendEncodedPath(std::string& out, std::string_view path);

}  // namespace roost::http
