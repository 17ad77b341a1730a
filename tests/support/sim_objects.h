// What the simulated kernel's descriptors stand for. Internal to SimSys and SimPeer.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sys.h"

namespace roost::test::sim {

// One send call as the receiver's network would see it.
struct Send {
  size_t size;
  bool more;       // MSG_MORE: the packet may wait for what follows
  bool from_file;  // by sendfile
};

// Bytes on their way.
class ByteQueue {
 public:
  bool empty() const { return begin_ == data_.size(); }
  size_t size() const { return data_.size() - begin_; }
  void append(const char* data, size_t size) { data_.append(data, size); }
  std::string take(size_t most) {
    std::string out = data_.substr(begin_, most);
    begin_ += out.size();
    if (begin_ > data_.size() / 2) {
      data_.erase(0, begin_);
      begin_ = 0;
    }
    return out;
  }
  void clear() {
    data_.clear();
    begin_ = 0;
  }

 private:
  std::string data_;
  size_t begin_ = 0;
};

struct Object {
  virtual ~Object() = default;
  virtual uint32_t ready() const { return 0; }  // epoll's events
  virtual void released() {}                    // its descriptor has been closed
  void wake() { ++wakes; }
  uint64_t wakes = 1;  // what edge-triggered watches compare
};

struct EventFd final : Object {
  uint32_t ready() const override { return EPOLLOUT | (count > 0 ? uint32_t{EPOLLIN} : 0U); }
  uint64_t count = 0;
};

struct TimerFd final : Object {
  uint32_t ready() const override { return expired ? uint32_t{EPOLLIN} : 0U; }
  int64_t deadline_ns = 0;
  bool expired = false;
};

// The real kernel's queue of file changes, so that the simulated epoll can tell when it has something.
struct Inotify final : Object {
  explicit Inotify(int real) : real_fd(real) {}
  uint32_t ready() const override {
    pollfd query{real_fd, POLLIN, 0};
    return ::poll(&query, 1, 0) == 1 ? uint32_t{EPOLLIN} : 0U;
  }
  void released() override { realSys().closeFd(real_fd); }
  int real_fd;
};

struct Watch {
  int fd;
  uint32_t events;
  epoll_data_t data;
  uint64_t seen;  // Object::wakes at the last report
};

struct Epoll final : Object {
  std::vector<Watch> watches;
  size_t first = 0;  // where the next wait begins, so that nobody starves
};

struct Address {
  sockaddr_storage storage{};
  socklen_t len = 0;
  std::string key() const { return {reinterpret_cast<const char*>(&storage), len}; }
};

// One end of a stream. What one end sends lies in the other's `in` until it is read there.
struct Stream final : Object, std::enable_shared_from_this<Stream> {
  uint32_t ready() const override {
    if (!connected && error == 0) return connecting ? 0U : uint32_t{EPOLLOUT | EPOLLHUP};
    uint32_t events = 0;
    if (!in.empty() || fin || reset || error != 0) events |= EPOLLIN;
    if (fin || reset) events |= EPOLLRDHUP;
    if (writable()) events |= EPOLLOUT;
    if (reset || (fin && shut)) events |= EPOLLHUP;
    if (error != 0) events |= EPOLLERR | EPOLLHUP;
    return events;
  }
  // As Linux has it: a socket is writable again once a third of its buffer is free.
  bool writable() const {
    if (shut || reset || error != 0) return true;
    const auto other = peer.lock();
    return other == nullptr || room() >= other->in.size() / 2;
  }
  size_t room() const {
    const auto other = peer.lock();
    if (other == nullptr || other->gone) return capacity;
    return other->in.size() >= capacity ? 0 : capacity - other->in.size();
  }
  // Bytes for the other end; to one that is gone they vanish and come back as a reset.
  void deliver(const char* data, size_t size) {
    const auto other = peer.lock();
    if (other == nullptr || other->gone) {
      takeReset(fin ? EPIPE : ECONNRESET);
      return;
    }
    other->in.append(data, size);
    other->wake();
  }
  void takeReset(int sys_errno) {
    if (reset) return;
    reset = true;
    error = sys_errno;
    wake();
  }
  void endWriting() {
    if (shut || !connected) return;
    shut = true;
    if (const auto other = peer.lock()) {
      other->fin = true;
      other->wake();
    }
    wake();
  }
  // Closed for good. Unread bytes, or a linger of 0, make it a reset.
  void hangUp(bool hard) {
    if (gone) return;
    const auto other = peer.lock();
    if (other != nullptr && connected) {
      if (hard || !in.empty()) {
        other->takeReset(ECONNRESET);
      } else {
        endWriting();
      }
    }
    gone = true;
    in.clear();
  }
  void released() override { hangUp(hard_close); }
  std::string take(size_t most) {
    std::string out = in.take(most);
    if (const auto other = peer.lock()) other->wake();  // it has room again
    return out;
  }

  ByteQueue in;
  std::weak_ptr<Stream> peer;
  Address local, remote;
  std::vector<Send> sends;
  size_t capacity = 256 * 1024;  // of the way to the peer
  int error = 0;                 // SO_ERROR
  bool connected = false;
  bool connecting = false;
  bool fin = false;    // the peer has ended its side
  bool shut = false;   // this side has ended
  bool reset = false;  // by the peer
  bool gone = false;
  bool hard_close = false;
};

struct Listening final : Object {
  uint32_t ready() const override { return waiting.empty() ? 0U : uint32_t{EPOLLIN}; }
  void released() override {
    for (const auto& stream : waiting) stream->hangUp(true);
  }
  std::deque<std::shared_ptr<Stream>> waiting;
  Address local;
};

// A socket that is neither connected nor listening yet.
struct Socket final : Object {
  uint32_t ready() const override { return EPOLLOUT | EPOLLHUP; }
  Address local;
  int family = AF_UNSPEC;
};

}  // namespace roost::test::sim
