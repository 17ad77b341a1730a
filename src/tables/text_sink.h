#pragma once

#include <cstddef>
#include <cstdint>
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
    copySmall(at_, text.data(), text.size());
    at_ += text.size();
  }
  // Where `bytes` bytes may be written; used() says up to where they were. REQUIRES: bytes <= kBytes.
  char* place(size_t bytes) {
    if (bytes > room()) flush();
    return at_;
  }
  void used(char* end) noexcept { at_ = end; }

 private:
  // Names, numbers and the like: two moves that may overlap, without a call.
  static void copySmall(char* to, const char* from, size_t size) noexcept {
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      copyEnds<uint64_t>(to, from, size);
    } else if (size >= 4) {
      copyEnds<uint32_t>(to, from, size);
    } else if (size != 0) {
      to[0] = from[0];
      to[size / 2] = from[size / 2];
      to[size - 1] = from[size - 1];
    }
  }
  template <class Word>
  static void copyEnds(char* to, const char* from, size_t size) noexcept {
    Word first;
    Word last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  }

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
