#include "net/acceptor.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errno_text.h"
#include "log/log.h"

namespace roost::net {

bool RoundRobinSink::accepts() noexcept {
  for (size_t tried = 0; tried < targets_.size(); ++tried) {
    if (targets_[next_]->accepts()) return true;
    next_ = (next_ + 1) % targets_.size();
  }
  return false;
}

const char* RoundRobinSink::obstacle() noexcept {
  const auto full = [](const FdHandoff* target) { return target->full(); };
  return std::all_of(targets_.begin(), targets_.end(), full)
             ? "every IO thread is at worker_connections"
             : "the IO threads have not yet taken the connections they were handed";
}

void RoundRobinSink::give(const AcceptedSocket& socket) noexcept {
  targets_[next_]->offer(socket);
  next_ = (next_ + 1) % targets_.size();
}

void RoundRobinSink::endOfBatch() noexcept {
  for (FdHandoff* target : targets_) target->wake();
}

Acceptor::Acceptor(event::Loop& loop, Listener listener, uint16_t index, ConnectionSink& sink,
                   Trigger trigger) noexcept
    : loop_(loop), listener_(std::move(listener)), sink_(sink), index_(index), trigger_(trigger) {}

Acceptor::~Acceptor() {
  stop();
  if (spare_fd_ >= 0) loop_.sys().closeFd(spare_fd_);
}

void Acceptor::openSpare() noexcept {
  if (spare_fd_ < 0) spare_fd_ = loop_.sys().openAt(AT_FDCWD, "/dev/null", O_RDONLY);
}

Status Acceptor::start() {
  openSpare();
  const uint32_t events = trigger_ == Trigger::kEdge ? EPOLLIN | EPOLLET : EPOLLIN;
  Status status = loop_.add(listener_.fd(), events, *this);
  listening_ = status.ok();
  return status;
}

void Acceptor::stop() noexcept {
  loop_.cancel(*this);
  if (listening_) loop_.remove(listener_.fd());
  listening_ = false;
}

Acceptor::Outcome Acceptor::acceptOne() noexcept {
  sockaddr_storage address;
  socklen_t len = sizeof address;
  Sys& sys = loop_.sys();
  const int fd = sys.acceptOn(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &len);
  if (fd >= 0) {
    const PeerAddr peer = PeerAddr::from(reinterpret_cast<sockaddr*>(&address), len);
    if (blocked_ != nullptr && blocked_->contains(peer)) {
      ++counts_.refused;
      if (counters_ != nullptr) counters_->refused.add();
      sys.closeFd(fd);
      return Outcome::kTaken;
    }
    ++counts_.accepted;
    if (counters_ != nullptr) counters_->accepted.add();
    sink_.give({fd, peer, index_});
    return Outcome::kTaken;
  }
  switch (-fd) {
    case EAGAIN:
      return Outcome::kDrained;
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // a firewall's refusal
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return Outcome::kRetry;  // this connection's trouble, not the listener's (accept(2))
    default:
      LOG_EVERY_SECOND(WARN, "accept on {}: {}; pausing for {} ms", listener_.address().toString(),
                       errnoText(-fd), pause_ms_);
      if (-fd == EMFILE || -fd == ENFILE) turnAwayOne();
      return Outcome::kExhausted;
  }
}

// Out of descriptors: the spare one lets one waiting client be told by a close.
void Acceptor::turnAwayOne() noexcept {
  if (spare_fd_ < 0) return;
  Sys& sys = loop_.sys();
  sys.closeFd(std::exchange(spare_fd_, -1));
  const int fd = sys.acceptOn(listener_.fd(), nullptr, nullptr);
  if (fd >= 0) {
    ++counts_.turned_away;
    if (counters_ != nullptr) counters_->turned_away.add();
    sys.closeFd(fd);
  }
  openSpare();
}

void Acceptor::onIo(uint32_t) noexcept {
  if (!listening_) return;
  const int limit = trigger_ == Trigger::kEdge ? kEdgeBatch : kLevelBatch;
  bool more = true;
  for (int taken = 0; more && taken < limit; ++taken) {
    if (!sink_.accepts()) {
      LOG_EVERY_SECOND(WARN, "{}: {}; new clients wait", listener_.address().toString(), sink_.obstacle());
      pause();
      more = false;
      continue;
    }
    const Outcome outcome = acceptOne();
    if (outcome == Outcome::kExhausted) pause();
    more = outcome == Outcome::kTaken || outcome == Outcome::kRetry;
    if (more) pause_ms_ = kFirstPauseMs;
    if (taken % kWakeEvery == kWakeEvery - 1) sink_.endOfBatch();
  }
  sink_.endOfBatch();
  if (more && trigger_ == Trigger::kEdge) goOn();
}

// An edge is told once; asking for it anew tells it again where clients still wait, behind what else is
// ready.
void Acceptor::goOn() noexcept {
  if (!loop_.modify(listener_.fd(), EPOLLIN | EPOLLET, *this).ok()) pause();
}

void Acceptor::pause() noexcept {
  ++counts_.pauses;
  if (counters_ != nullptr) counters_->pauses.add();
  loop_.remove(listener_.fd());
  listening_ = false;
  loop_.armIn(*this, std::chrono::milliseconds(pause_ms_));
  pause_ms_ = std::min(pause_ms_ * 2, kLongestPauseMs);
}

void Acceptor::onTimer() noexcept {
  const Status status = start();
  if (!status.ok()) {
    loop_.armIn(*this, std::chrono::milliseconds(kLongestPauseMs));
    return;
  }
  // Adding an fd that is ready already raises its event, so that nothing more is needed here.
}

}  // namespace roost::net
