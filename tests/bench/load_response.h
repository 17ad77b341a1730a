// Checks responses for the load generator: parses a head once and compares the later ones with it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace roost::bench {

// What the first good head looked like. A later one of the same shape needs three comparisons instead of a
// parse.
constexpr int64_t kChunked = -1;
struct HeadShape {
  size_t head_bytes = 0;
  size_t length_at = 0;  // where the Content-Length field starts
  std::string length_field;
  int64_t body_bytes = 0;  // kChunked: it says itself where it ends
  bool closes = false;     // says Connection: close
};

inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// Where in the head a field line starts with `lower_name`, or npos.
inline size_t findField(std::string_view head, std::string_view lower_name) {
  for (size_t line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n", line + 2)) {
    const std::string_view name = head.substr(line + 2, lower_name.size());
    if (std::equal(name.begin(), name.end(), lower_name.begin(), lower_name.end(),
                   [](char a, char b) { return lower(a) == b; })) {
      return line + 2;
    }
  }
  return std::string_view::npos;
}

// Finds the end of a chunked body (RFC 9112 section 7.1) without trailers.
class ChunkSkipper {
 public:
  // Takes what belongs to the body off `data`. Once it is done it stands at the next body's beginning.
  enum class State { kMore, kDone, kBad };
  State skip(std::string_view* data) {
    while (!data->empty()) {
      const auto taken = static_cast<size_t>(std::min<int64_t>(left_, static_cast<int64_t>(data->size())));
      data->remove_prefix(taken);
      left_ -= static_cast<int64_t>(taken);
      if (left_ > 0 || data->empty()) break;
      const char c = data->front();
      data->remove_prefix(1);
      if (c == '\r') continue;
      if (c != '\n') {
        line_ += c;
        if (line_.size() > 16) return State::kBad;
        continue;
      }
      const int64_t size = strtoll(line_.c_str(), nullptr, 16);
      if (line_.empty()) {
        if (last_) return ended();
        return State::kBad;
      }
      line_.clear();
      last_ = size == 0;
      left_ = size == 0 ? 0 : size + 2;
    }
    return State::kMore;
  }

 private:
  State ended() {
    last_ = false;
    return State::kDone;
  }

  std::string line_;
  int64_t left_ = 0;  // of a chunk and its CRLF
  bool last_ = false;
};

class ResponseChecker {
 public:
  // `length` below 0: whatever the first response says, then always that.
  ResponseChecker(int status, int64_t length)
      : wanted_length_(length), status_line_("HTTP/1.1 " + std::to_string(status)) {}

  enum class Outcome { kGood, kPartial, kBad };

  // Judges the head that starts at `data`; on kGood sets its size and that of the body to come.
  Outcome head(std::string_view data, size_t* head_bytes, int64_t* body_bytes) {
    if (!sameShape(data)) {
      const size_t end = data.find("\r\n\r\n");
      if (end == std::string_view::npos) return data.size() < 65536 ? Outcome::kPartial : Outcome::kBad;
      if (!learn(data.substr(0, end + 4))) return Outcome::kBad;
    }
    *head_bytes = shape_.head_bytes;
    *body_bytes = shape_.body_bytes;
    return Outcome::kGood;
  }
  const HeadShape& shape() const { return shape_; }

 private:
  bool sameShape(std::string_view data) const {
    return shape_.head_bytes != 0 && data.size() >= shape_.head_bytes &&
           memcmp(data.data(), status_line_.data(), status_line_.size()) == 0 &&
           memcmp(data.data() + shape_.head_bytes - 4, "\r\n\r\n", 4) == 0 &&
           memcmp(data.data() + shape_.length_at, shape_.length_field.data(), shape_.length_field.size()) ==
               0;
  }

  bool learn(std::string_view head) {
    size_t at = findField(head, "content-length:");
    const bool chunked = at == std::string_view::npos;
    if (chunked) at = findField(head, "transfer-encoding: chunked");
    if (head.substr(0, status_line_.size()) != status_line_ || at == std::string_view::npos) return false;
    const size_t end = head.find("\r\n", at);
    const int64_t length =
        chunked ? kChunked : strtoll(std::string(head.substr(at + 15, end - at - 15)).c_str(), nullptr, 10);
    if (wanted_length_ >= 0 && length != wanted_length_) return false;
    wanted_length_ = length;  // what a server answers once it must go on answering
    const size_t connection = findField(head, "connection: close");
    shape_ = HeadShape{head.size(), at, std::string(head.substr(at, end - at + 2)), length,
                       connection != std::string_view::npos};
    return true;
  }

  int64_t wanted_length_;
  const std::string status_line_;
  HeadShape shape_;
};

}  // namespace roost::bench
