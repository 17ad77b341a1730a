#include "net/fd_handoff.h"

namespace roost::net {

FdHandoff::~FdHandoff() {
  Sys& sys = target_.loop().sys();
  ring_.consume_all([&sys](const AcceptedSocket& socket) { sys.closeFd(socket.fd); });
  if (event_fd_ >= 0) sys.closeFd(event_fd_);
}

Status FdHandoff::open() {
  event_fd_ = target_.loop().sys().eventfdCreate();
  if (event_fd_ < 0) return Status::fromErrno(-event_fd_, "eventfd");
  return target_.loop().add(event_fd_, EPOLLIN | EPOLLET, *this);
}

bool FdHandoff::full() const noexcept {
  return offered_ - target_.closedCount() >= limit_;
}

void FdHandoff::offer(const AcceptedSocket& socket) noexcept {
  ring_.push(socket);
  ++offered_;
  unsignalled_ = true;
}

void FdHandoff::wake() noexcept {
  if (!unsignalled_) return;
  unsignalled_ = false;
  target_.loop().sys().eventfdSignal(event_fd_);
}

void FdHandoff::adoptAll() noexcept {
  ring_.consume_all([this](const AcceptedSocket& socket) { target_.adopt(socket); });
}

// What is left after a turn is announced anew, and so comes behind what else is ready.
void FdHandoff::onIo(uint32_t) noexcept {
  const auto adopt = [this](const AcceptedSocket& socket) { target_.adopt(socket); };
  for (size_t taken = 0; taken < kTurn; ++taken) {
    if (!ring_.consume_one(adopt)) return;
  }
  if (ring_.read_available() > 0) target_.loop().sys().eventfdSignal(event_fd_);
}

}  // namespace roost::net
