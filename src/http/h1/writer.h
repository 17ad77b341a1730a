#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string_view>

#include "http/response_head.h"

namespace roost::http::h1 {

// How the end of an answer's content is told (RFC 9112 section 6.3).
enum class Framing : uint8_t { kNone, kLength, kChunked, kClose };

// What the Connection field says.
enum class Persistence : uint8_t { kDefault, kKeepAlive, kClose, kUpgrade };

using HeadText = boost::container::small_vector<char, 1024>;

// Appends an HTTP/1.1 status line and fields, without the empty line. `server` empty: no Server field; `date`
// likewise. Returns where in `out` the date's 29 characters begin, 0 without one.
size_t writeHead(HeadText& out, const ResponseHead& head, Framing framing, std::string_view server,
                 std::string_view date);
// Appends an Expires field for this time, seconds since 1970. Returns where its 29 characters begin.
size_t writeExpires(HeadText& out, int64_t at_s);
void append(HeadText& out, std::string_view text);

// The line that says whether the connection stays; empty for kDefault.
std::string_view connectionLine(Persistence persistence) noexcept;

// "<hex size>\r\n" for a chunk (RFC 9112 section 7.1). `out` has room for 18 characters.
std::string_view chunkSizeLine(uint64_t size, char* out) noexcept;

}  // namespace roost::http::h1
