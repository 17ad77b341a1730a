#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string_view>

namespace roost::http {

// The head of an answer while it is being put together: a status and field lines, kept in wire form so that
// HTTP/1 copies them out whole. Lives on the stack of whoever answers; typical heads allocate nothing.
//
// Date, Server, Content-Length, Transfer-Encoding and Connection are the protocol's business and are not
// added here; the length is a member.
class ResponseHead {
 public:
  static constexpr int64_t kUnknownLength = -1;

  explicit ResponseHead(int status_code) noexcept : status(status_code) {}

  int status;
  // Bytes of content to come (to HEAD: that would have come). Unknown: chunked, or until the connection
  // closes.
  int64_t content_length = kUnknownLength;
  // Whoever answers has looked at Accept-Encoding: the content is sent with the coding the head names, or
  // without one. Otherwise the route's Compression chooses.
  bool negotiated = false;

  // The answer is fresh for so long from its Date on, told by an Expires field (RFC 9111 section 5.3). A time
  // span and no line, so that an answer that is kept ready tells the right date whenever it is sent.
  static constexpr int64_t kNoExpiry = -1;
  int64_t expires_after_s = kNoExpiry;
  // The media type of the content that a 304 speaks of and does not say; empty elsewhere. Outlives the head.
  std::string_view unsent_type;

  // The media type in Content-Type, or of what is not sent.
  std::string_view contentType() const noexcept {
    const std::string_view sent = get("Content-Type");
    return sent.empty() ? unsent_type : sent;
  }

  // REQUIRES: name is a token and value holds no control characters; what comes from outside has been
  // checked.
  void add(std::string_view name, std::string_view value);
  void addNumber(std::string_view name, uint64_t value);
  void addAll(const ResponseHead& other);  // its lines
  // The first line of this name, case-insensitively; empty where there is none.
  std::string_view get(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept { return indexOf(name) != lines_.size(); }
  void remove(std::string_view name) noexcept;  // all lines of it

  // All lines as "Name: value\r\n".
  std::string_view lines() const noexcept { return {text_.data(), text_.size()}; }
  template <class Fn>
  void forEach(Fn&& fn) const {  // fn(name, value)
    for (const Line& line : lines_) fn(nameOf(line), valueOf(line));
  }

 private:
  struct Line {
    uint32_t off;
    uint32_t name_len;
    uint32_t value_len;
  };
  std::string_view nameOf(const Line& line) const noexcept {
    return {text_.data() + line.off, line.name_len};
  }
  std::string_view valueOf(const Line& line) const noexcept {
    return {text_.data() + line.off + line.name_len + 2, line.value_len};
  }
  size_t indexOf(std::string_view name) const noexcept;

  boost::container::small_vector<char, 640> text_;
  boost::container::small_vector<Line, 16> lines_;
};

}  // namespace roost::http
