#include "http/h1/writer.h"

#include <algorithm>
#include <charconv>

#include "http/date.h"
#include "http/message.h"

namespace roost::http::h1 {

void append(HeadText& out, std::string_view text) {
  const size_t at = out.size();
  out.resize(at + text.size(), boost::container::default_init);  // insert() takes several times as long
  std::copy(text.begin(), text.end(), out.data() + at);
}

namespace {

void appendNumber(HeadText& out, uint64_t value) {
  char digits[20];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  append(out, {digits, static_cast<size_t>(result.ptr - digits)});
}

}  // namespace

size_t writeHead(HeadText& out, const ResponseHead& head, Framing framing, std::string_view server,
                 std::string_view date) {
  append(out, "HTTP/1.1 ");
  appendNumber(out, static_cast<uint64_t>(head.status));
  out.push_back(' ');
  append(out, reasonPhrase(head.status));
  append(out, "\r\n");
  if (!server.empty()) {
    append(out, "Server: ");
    append(out, server);
    append(out, "\r\n");
  }
  size_t date_off = 0;
  if (!date.empty()) {
    append(out, "Date: ");
    date_off = out.size();
    append(out, date);
    append(out, "\r\n");
  }
  append(out, head.lines());
  if (framing == Framing::kLength) {
    append(out, "Content-Length: ");
    appendNumber(out, static_cast<uint64_t>(head.content_length));
    append(out, "\r\n");
  } else if (framing == Framing::kChunked) {
    append(out, "Transfer-Encoding: chunked\r\n");
  }
  return date_off;
}

size_t writeExpires(HeadText& out, int64_t at_s) {
  append(out, "Expires: ");
  const size_t off = out.size();
  char date[kHttpDateSize];
  formatHttpDate(at_s, date);
  append(out, {date, sizeof date});
  append(out, "\r\n");
  return off;
}

std::string_view connectionLine(Persistence persistence) noexcept {
  switch (persistence) {
    case Persistence::kDefault:
      return {};
    case Persistence::kKeepAlive:
      return "Connection: keep-alive\r\n";
    case Persistence::kClose:
      return "Connection: close\r\n";
    case Persistence::kUpgrade:
      return "Connection: Upgrade\r\n";
  }
  return {};
}

std::string_view chunkSizeLine(uint64_t size, char* out) noexcept {
  const auto result = std::to_chars(out, out + 16, size, 16);
  result.ptr[0] = '\r';
  result.ptr[1] = '\n';
  return {out, static_cast<size_t>(result.ptr - out) + 2};
}

}  // namespace roost::http::h1
