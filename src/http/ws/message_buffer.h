#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/buffer.h"

namespace roost::http::ws {

// Where a message that comes in pieces is put together, behind room for the header of an answer. Owned by the
// socket while such a message is coming in; loop thread only.
class MessageBuffer {
 public:
  static constexpr size_t kHeadroom = 16;
  static constexpr size_t kFirstBytes = 64 << 10;

  // Makes room for at least `more` bytes. The first time that is for the whole message where it is known how
  // much has been `announced`, but for kFirstBytes at most, since announcing costs nothing. From then on the
  // memory doubles, up to a message of `limit`: pieces are as many as the peer likes, and were each to move
  // what is there, a message would cost the square of its length.
  // False: memory is out.
  bool reserve(size_t more, size_t announced, size_t limit) noexcept {
    const size_t needed = size_ + more;
    if (buffer_ && capacity() >= needed) return true;
    const size_t wanted = buffer_ ? std::min(2 * needed, limit) : std::min(announced, kFirstBytes);
    BufferRef larger = BufferRef::allocateForPeer(kHeadroom + std::max(needed, wanted));
    if (!larger) return false;
    if (size_ > 0) std::memcpy(larger.mutableData() + kHeadroom, data(), size_);
    buffer_ = std::move(larger);
    return true;
  }
  // REQUIRES, here and below: reserve() has made room since take().
  char* space() noexcept { return buffer_.mutableData() + kHeadroom + size_; }
  size_t room() const noexcept { return capacity() - size_; }
  void added(size_t bytes) noexcept { size_ += bytes; }  // to space(); REQUIRES: at most room()
  const char* data() const noexcept { return buffer_.data() + kHeadroom; }
  size_t size() const noexcept { return size_; }
  size_t capacity() const noexcept { return buffer_ ? buffer_.size() - kHeadroom : 0; }

  // Hands the memory over, the message behind kHeadroom bytes, and begins anew.
  BufferRef take() noexcept {
    size_ = 0;
    return std::move(buffer_);
  }

 private:
  BufferRef buffer_;
  size_t size_ = 0;
};

}  // namespace roost::http::ws
