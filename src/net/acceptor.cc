#include "net/acceptor.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errno_text.h"
#include "log/log.h"

namespace roost::net {
namespace {

bool meansNoRoom(int sys_errno) noexcept {
  return sys_errno == EMFILE || sys_errno == ENFILE || sys_errno == ENOMEM;
}

}  // namespace

bool RoundRobinSink::accepts() noexcept {
  for (size_t tried = 0; tried < targets_.size(); ++tried) {
    if (targets_[next_]->accepts()) return true;
    next_ = (next_ + 1) % targets_.size();
  }
  return false;
}

const char* RoundRobinSink::obstacle() noexcept {
  const auto full = [](const FdHandoff* target) { return target->full(); };
  const auto overloaded = [](const FdHandoff* target) { return target->overloaded(); };
  if (std::any_of(targets_.begin(), targets_.end(), overloaded)) return "the server is overloaded";
  return std::all_of(targets_.begin(), targets_.end(), full)
             ? "every IO thread is at worker_connections"
             : "the IO threads have not yet taken the connections they were handed";
}

void RoundRobinSink::give(const AcceptedSocket& socket) noexcept {
  room_.found();
  targets_[next_]->offer(socket);
  next_ = (next_ + 1) % targets_.size();
}

ConnectionSink::Room RoundRobinSink::makeRoom(Lack) noexcept {
  const auto overloaded = [](const FdHandoff* target) { return target->overloaded(); };
  if (std::all_of(targets_.begin(), targets_.end(), overloaded)) return Room::kNone;
  return room_.ask() ? Room::kSoon : Room::kNone;
}

void RoundRobinSink::endOfBatch() noexcept {
  for (FdHandoff* target : targets_) target->wake();
}

// This loop's own connections first; other loops' places are of no use, but their descriptors are.
ConnectionSink::Room LocalSink::makeRoom(Lack lack) noexcept {
  if (overloaded() || context_.evictor() == nullptr) return Room::kNone;
  const Evictor::Evicted evicted = context_.evictor()->evictIdle();
  if (evicted.closed > 0) return Room::kMade;
  const bool others_may = lack == Lack::kDescriptors && room_.ask();
  return evicted.more_may_follow || others_may ? Room::kSoon : Room::kNone;
}

Acceptor::Acceptor(event::Loop& loop, Listener listener, uint16_t index, ConnectionSink& sink,
                   Trigger trigger) noexcept
    : loop_(loop), listener_(std::move(listener)), sink_(sink), index_(index), trigger_(trigger) {
  spares_.fill(-1);
}

Acceptor::~Acceptor() {
  stop();
  releaseSpares();
}

// All or none: a part of them would be missed by whoever has a better use. An eventfd needs nothing but a
// free descriptor; what keeps it from being made for another reason says nothing about room for clients.
bool Acceptor::holdSpares() noexcept {
  for (int& fd : spares_) {
    if (fd < 0) fd = loop_.sys().eventfdCreate();
    if (fd >= 0) continue;
    const int error = -fd;
    releaseSpares();
    return !meansNoRoom(error);
  }
  return true;
}

void Acceptor::releaseSpares() noexcept {
  for (int& fd : spares_) {
    if (fd >= 0) loop_.sys().closeFd(fd);
    fd = -1;
  }
}

Status Acceptor::start() {
  static_cast<void>(holdSpares());  // a server with so few descriptors does without
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
    take(fd, PeerAddr::from(reinterpret_cast<sockaddr*>(&address), len));
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
    case EMFILE:
    case ENFILE:
      return findDescriptors(-fd) ? Outcome::kRetry : Outcome::kExhausted;
    default:
      tellExhausted(-fd);
      return Outcome::kExhausted;
  }
}

void Acceptor::take(int fd, const PeerAddr& peer) noexcept {
  if (blocked_ != nullptr && blocked_->contains(peer)) {
    ++counts_.refused;
    if (counters_ != nullptr) counters_->refused.add();
    loop_.sys().closeFd(fd);
    return;
  }
  const AddressLimit::Entry entry =
      address_limit_ == nullptr ? AddressLimit::Entry{true, 0} : address_limit_->enter(peer);
  if (!entry.admitted) {
    LOG_EVERY_SECOND(WARN, "{}: closed, its address has {} connections already", peer.toString(),
                     address_limit_->max());
    ++counts_.over_limit;
    if (counters_ != nullptr) counters_->over_limit.add();
    loop_.sys().closeFd(fd);
    return;
  }
  ++counts_.accepted;
  if (counters_ != nullptr) counters_->accepted.add();
  sink_.give({fd, peer, index_, entry.hash});
}

void Acceptor::tellExhausted(int sys_errno) noexcept {
  LOG_EVERY_SECOND(WARN, "accept on {}: {}; pausing for {} ms", listener_.address().toString(),
                   errnoText(sys_errno), pause_ms_);
}

// Idle connections go first; without them one client that waits is told. Returns whether there are
// descriptors again.
bool Acceptor::findDescriptors(int sys_errno) noexcept {
  const ConnectionSink::Room room = sink_.makeRoom(ConnectionSink::Lack::kDescriptors);
  if (room != ConnectionSink::Room::kNone) return room == ConnectionSink::Room::kMade;
  tellExhausted(sys_errno);
  turnAwayOne();
  return false;
}

// Out of descriptors: with the spares let go of, one waiting client can be told by a close.
void Acceptor::turnAwayOne() noexcept {
  if (spares_.front() < 0) return;
  releaseSpares();
  Sys& sys = loop_.sys();
  const int fd = sys.acceptOn(listener_.fd(), nullptr, nullptr);
  if (fd < 0) return;
  ++counts_.turned_away;
  if (counters_ != nullptr) counters_->turned_away.add();
  sys.closeFd(fd);
}

void Acceptor::onIo(uint32_t) noexcept {
  if (!listening_) return;
  const int limit = trigger_ == Trigger::kEdge ? kEdgeBatch : kLevelBatch;
  bool more = true;
  for (int taken = 0; more && taken < limit; ++taken) {
    if (!sink_.accepts()) {
      if (taken > 0) break;  // whether another client waits, the next event tells
      if (sink_.makeRoom(ConnectionSink::Lack::kPlaces) == ConnectionSink::Room::kMade) break;
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
  if (listening_) loop_.remove(listener_.fd());
  listening_ = false;
  ++counts_.pauses;
  if (counters_ != nullptr) counters_->pauses.add();
  loop_.armIn(*this, std::chrono::milliseconds(pause_ms_));
  pause_ms_ = std::min(pause_ms_ * 2, kLongestPauseMs);
}

// Whether there is a descriptor for a client beyond the spares. Without this look the spares would be taken
// from those who use them, only to be let go of again at the first client.
bool Acceptor::hasRoom() noexcept {
  const int fd = loop_.sys().eventfdCreate();
  if (fd < 0) return !meansNoRoom(-fd);
  const bool has_spares = holdSpares();
  loop_.sys().closeFd(fd);
  return has_spares;
}

// Where clients wait already, adding the socket raises its event by itself.
void Acceptor::onTimer() noexcept {
  if (hasRoom() && start().ok()) return;
  if (findDescriptors(EMFILE) && hasRoom() && start().ok()) return;
  pause();
}

}  // namespace roost::net
