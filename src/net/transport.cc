#include "net/transport.h"

#include <cerrno>

namespace roost::net {
namespace {

// Repeats a call that a signal interrupted, and sorts its outcome.
template <class Call>
IoResult sorted(Call&& call, IoState would_block, IoState zero) noexcept {
  for (;;) {
    const ssize_t n = call();
    if (n > 0) return {IoState::kDone, 0, static_cast<size_t>(n)};
    if (n == 0) return {zero, 0, 0};
    const int error = static_cast<int>(-n);
    if (error == EINTR) continue;
    if (error == EAGAIN || error == EWOULDBLOCK) return {would_block, 0, 0};
    return {IoState::kError, error, 0};
  }
}

}  // namespace

IoResult PlainTransport::read(int fd, char* data, size_t capacity) noexcept {
  return sorted([&] { return sys_.recvFrom(fd, data, capacity); }, IoState::kWantRead, IoState::kEof);
}

IoResult PlainTransport::discard(int fd, size_t most) noexcept {
  return sorted([&] { return sys_.discardFrom(fd, most); }, IoState::kWantRead, IoState::kEof);
}

IoResult PlainTransport::write(int fd, const char* data, size_t size, bool more) noexcept {
  return sorted([&] { return sys_.sendTo(fd, data, size, more); }, IoState::kWantWrite, IoState::kWantWrite);
}

IoResult PlainTransport::writev(int fd, const iovec* parts, int count, bool more) noexcept {
  return sorted([&] { return sys_.sendVec(fd, parts, count, more); }, IoState::kWantWrite,
                IoState::kWantWrite);
}

IoResult PlainTransport::sendFile(int fd, int file_fd, uint64_t offset, size_t size) noexcept {
  return sorted([&] { return sys_.sendFile(fd, file_fd, static_cast<int64_t>(offset), size); },
                IoState::kWantWrite, IoState::kEof);
}

}  // namespace roost::net
