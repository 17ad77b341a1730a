#include "net/fd_handoff.h"

#include <algorithm>

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

// Only what waits now: a socket that comes meanwhile is announced by itself, and is read behind the notices
// of file changes that came before it. What is left after a turn is announced anew, behind what else is
// ready.
void FdHandoff::onIo(uint32_t) noexcept {
  const size_t waiting = ring_.read_available();
  const auto adopt = [this](const AcceptedSocket& socket) { target_.adopt(socket); };
  for (size_t taken = 0; taken < std::min(waiting, kTurn); ++taken) ring_.consume_one(adopt);
  if (waiting > kTurn) target_.loop().sys().eventfdSignal(event_fd_);
}

}  // namespace roost::net
