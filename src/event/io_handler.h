#pragma once

#include <cstdint>

namespace roost::event {

// What a Loop calls when an fd is ready. The loop borrows handlers and never owns them: a handler removes its
// fd before it goes, and because events of the same batch may still name it, its memory must last until the
// batch is over (Loop::setAfterBatch, Loop::destroyLater).
class IoHandler {
 public:
  // `events` are epoll's (EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR ...). Loop thread; never throws.
  virtual void onIo(uint32_t events) noexcept = 0;

 protected:
  ~IoHandler() = default;
};

}  // namespace roost::event
