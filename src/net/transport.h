#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "base/sys.h"

namespace roost::net {

enum class IoState : uint8_t { kDone, kWantRead, kWantWrite, kEof, kError };

// The outcome of one call. `bytes` moved even where the state is not kDone.
struct IoResult {
  IoState state;
  int sys_errno;  // with kError
  size_t bytes;
};

// How bytes cross a connection's socket: plain TCP or Unix (PlainTransport, one object for all), TLS later
// (one object per connection). Loop thread only.
class Transport {
 public:
  virtual IoResult read(int fd, char* data,
                        size_t capacity) noexcept = 0;  // kEof: the peer has ended its side
  // Reads away at most `most` bytes that nobody needs.
  virtual IoResult discard(int fd, size_t most) noexcept = 0;
  // `more`: further bytes follow at once, so that a packet may wait for them.
  virtual IoResult write(int fd, const char* data, size_t size, bool more) noexcept = 0;
  virtual IoResult writev(int fd, const iovec* parts, int count, bool more) noexcept = 0;
  // kEof: the file has no byte at `offset`.
  virtual IoResult sendFile(int fd, int file_fd, uint64_t offset, size_t size) noexcept = 0;

 protected:
  ~Transport() = default;
};

// Bytes as they are. Keeps no state; one object serves a loop.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Sys& sys) noexcept : sys_(sys) {}
  IoResult read(int fd, char* data, size_t capacity) noexcept override;
  IoResult discard(int fd, size_t most) noexcept override;
  IoResult write(int fd, const char* data, size_t size, bool more) noexcept override;
  IoResult writev(int fd, const iovec* parts, int count, bool more) noexcept override;
  IoResult sendFile(int fd, int file_fd, uint64_t offset, size_t size) noexcept override;

 private:
  Sys& sys_;
};

}  // namespace roost::net
