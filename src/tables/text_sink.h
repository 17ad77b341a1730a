#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace roost::tables {

// Gathers small pieces of text before they are appended to a string: a row's numbers, names and commas cost a
// pointer's move each. What was put is in the string once the sink is gone. A value on the stack.
class TextSink {
 public:
  static constexpr size_t kBytes = 1024;

  explicit TextSink(std::string& out) noexcept : out_(out) {}
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;
  ~TextSink() { flush(); }

  void put(char c) {
    if (at_ == buffer_ + kBytes) flush();
    *at_++ = c;
  }
  void put(std::string_view text) {
    if (text.size() > room()) {
      flush();
      if (text.size() > kBytes) {
        out_.append(text);
        return;
      }
    }
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  // Where `bytes` bytes may be written; used() says up to where they were. REQUIRES: bytes <= kBytes.
  char* place(size_t bytes) {
    if (bytes > room()) flush();
    return at_;
  }
  void used(char* end) noexcept { at_ = end; }

 private:
  size_t room() const noexcept { return static_cast<size_t>(buffer_ + kBytes - at_); }
  void flush() {
    out_.append(buffer_, static_cast<size_t>(at_ - buffer_));
    at_ = buffer_;
  }

  std::string& out_;
  char* at_ = buffer_;
  char buffer_[kBytes];
};

}  // namespace roost::tables
