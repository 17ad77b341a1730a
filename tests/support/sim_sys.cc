#include "support/sim_sys.h"

#include <linux/openat2.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace roost::test {

using sim::Stream;

namespace {

sim::Address ipAddress(std::string_view ip, uint16_t port) {
  sim::Address address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  ::inet_pton(AF_INET, std::string(ip).c_str(), &v4.sin_addr);
  std::memcpy(&address.storage, &v4, sizeof v4);
  address.len = sizeof v4;
  return address;
}

sim::Address copyOf(const sockaddr* from, socklen_t len) {
  sim::Address address;
  address.len = std::min<socklen_t>(len, sizeof address.storage);
  std::memcpy(&address.storage, from, address.len);
  return address;
}

void copyOut(const sim::Address& from, sockaddr* to, socklen_t* len) {
  if (to == nullptr || len == nullptr) return;
  std::memcpy(to, &from.storage, std::min(*len, from.len));
  *len = from.len;
}

// What each kind of call usually fails with; 0: it does not fail in practice.
int usualErrno(Call call) {
  switch (call) {
    case Call::kEpollCtl:
      return ENOMEM;
    case Call::kEpollWait:
      return EINTR;
    case Call::kSocket:
    case Call::kAccept:
    case Call::kOpen:
      return EMFILE;
    case Call::kConnect:
      return ENETUNREACH;
    case Call::kSetSockOpt:
      return ENOBUFS;
    case Call::kRecv:
      return ECONNRESET;
    case Call::kSend:
    case Call::kSendVec:
    case Call::kSendFile:
      return EPIPE;
    case Call::kShutdown:
      return ENOTCONN;
    case Call::kStat:
    case Call::kRead:
      return EIO;
    default:
      return 0;
  }
}

}  // namespace

// ---- the test's side
// ------------------------------------------------------------------------------------------

void SimSys::advanceNs(int64_t ns) {
  const Guard guard(mutex_);
  now_ns_ += ns;
  expireTimers();
}

void SimSys::expireTimers() {
  for (const auto& object : objects_) {
    auto* timer = dynamic_cast<sim::TimerFd*>(object.get());
    if (timer == nullptr || timer->deadline_ns == 0 || timer->deadline_ns > now_ns_) continue;
    timer->deadline_ns = 0;
    timer->expired = true;
    timer->wake();
  }
}

int64_t SimSys::nextTimerNs() const {
  const Guard guard(mutex_);
  int64_t next = INT64_MAX;
  for (const auto& object : objects_) {
    const auto* timer = dynamic_cast<const sim::TimerFd*>(object.get());
    if (timer != nullptr && timer->deadline_ns != 0) next = std::min(next, timer->deadline_ns);
  }
  return next;
}

std::pair<std::shared_ptr<Stream>, std::shared_ptr<Stream>> SimSys::streamPair() {
  auto a = std::make_shared<Stream>();
  auto b = std::make_shared<Stream>();
  a->peer = b;
  b->peer = a;
  a->connected = b->connected = true;
  a->capacity = b->capacity = capacity_;
  return {a, b};
}

std::pair<int, SimPeer> SimSys::connectedPair(std::string_view ip, uint16_t port) {
  const Guard guard(mutex_);
  auto [server, client] = streamPair();
  server->remote = ipAddress(ip, port);
  return {install(server), SimPeer(*this, client, server)};
}

SimPeer SimSys::connectTo(int listen_fd, std::string_view ip, uint16_t port) {
  const Guard guard(mutex_);
  auto* listening = get<sim::Listening>(listen_fd);
  auto [server, client] = streamPair();
  server->remote = ipAddress(ip, port);
  listening->waiting.push_back(server);
  listening->wake();
  return SimPeer(*this, client, server);
}

void SimSys::holdConnects(bool on) {
  const Guard guard(mutex_);
  hold_connects_ = on;
  if (on) return;
  for (const auto& [weak, key] : std::exchange(held_, {})) {
    if (const auto stream = weak.lock()) finishConnect(*stream, key);
  }
}

void SimSys::failNth(Call call, uint64_t nth, int sys_errno, uint64_t times) {
  const Guard guard(mutex_);
  const uint64_t from = entered_[static_cast<size_t>(call)] + nth;
  faults_.push_back({call, from, from + times, sys_errno});
}

void SimSys::clearFaults() {
  const Guard guard(mutex_);
  faults_.clear();
  fail_any_at_ = 0;
  interrupt_every_ = 0;
  max_send_ = max_recv_ = 0;
}

size_t SimSys::openFds() const {
  const Guard guard(mutex_);
  return live_ + real_fds_.size();
}

// ---- descriptors
// ----------------------------------------------------------------------------------------------

int SimSys::enter(Call call) {
  const auto kind = static_cast<size_t>(call);
  ++counts_[kind];
  const uint64_t nth = ++entered_[kind];
  const int usual = usualErrno(call);
  if (usual != 0 && ++failable_ == fail_any_at_) return usual;
  for (const Fault& fault : faults_) {
    if (fault.call == call && nth >= fault.from && nth < fault.to) return fault.sys_errno;
  }
  return 0;
}

bool SimSys::interrupted() {
  return interrupt_every_ != 0 && ++interruptible_ % interrupt_every_ == 0;
}

int SimSys::install(std::shared_ptr<sim::Object> object) {
  size_t index = 0;
  while (index < objects_.size() && objects_[index] != nullptr) ++index;
  if (index == objects_.size()) objects_.emplace_back();
  objects_[index] = std::move(object);
  ++live_;
  return kFirstFd + static_cast<int>(index);
}

template <class T>
T* SimSys::get(int fd) const {
  const auto index = static_cast<size_t>(fd - kFirstFd);
  if (fd < kFirstFd || index >= objects_.size()) return nullptr;
  return dynamic_cast<T*>(objects_[index].get());
}

int SimSys::closeFd(int fd) noexcept {
  const Guard guard(mutex_);
  const int error = enter(Call::kClose);
  if (fd < kFirstFd) {
    real_fds_.erase(fd);
    return realSys().closeFd(fd);
  }
  if (get<sim::Object>(fd) == nullptr) return -EBADF;
  const std::shared_ptr<sim::Object> object = std::move(objects_[static_cast<size_t>(fd - kFirstFd)]);
  objects_[static_cast<size_t>(fd - kFirstFd)] = nullptr;
  --live_;
  object->released();
  for (const auto& other : objects_) {
    auto* epoll = dynamic_cast<sim::Epoll*>(other.get());
    if (epoll == nullptr) continue;
    auto& watches = epoll->watches;
    watches.erase(
        std::remove_if(watches.begin(), watches.end(), [&](const sim::Watch& w) { return w.fd == fd; }),
        watches.end());
  }
  return -error;  // an error of close(2) does not keep it open
}

// ---- clocks, epoll, timers, wake-ups
// --------------------------------------------------------------------------

int64_t SimSys::monotonicNs() noexcept {
  const Guard guard(mutex_);
  return now_ns_;
}

int64_t SimSys::realtimeNs() noexcept {
  const Guard guard(mutex_);
  return now_ns_ + realtime_offset_ns_;
}

int SimSys::epollCreate() noexcept {
  const Guard guard(mutex_);
  return full() ? -EMFILE : install(std::make_shared<sim::Epoll>());
}

int SimSys::epollCtl(int epoll_fd, int op, int fd, epoll_event* event) noexcept {
  const Guard guard(mutex_);
  auto* epoll = get<sim::Epoll>(epoll_fd);
  const auto* object = get<sim::Object>(fd);
  if (epoll == nullptr || object == nullptr) return -EBADF;
  if (op != EPOLL_CTL_DEL) {
    if (const int error = enter(Call::kEpollCtl)) return -error;
  } else {
    ++counts_[static_cast<size_t>(Call::kEpollCtl)];
  }
  auto& watches = epoll->watches;
  const auto found =
      std::find_if(watches.begin(), watches.end(), [&](const sim::Watch& watch) { return watch.fd == fd; });
  if ((found != watches.end()) == (op == EPOLL_CTL_ADD)) return op == EPOLL_CTL_ADD ? -EEXIST : -ENOENT;
  if (op == EPOLL_CTL_DEL) {
    watches.erase(found);
  } else if (op == EPOLL_CTL_ADD) {
    watches.push_back({fd, event->events, event->data, 0});
  } else {
    *found = {fd, event->events, event->data, 0};
  }
  return 0;
}

int SimSys::gather(sim::Epoll& epoll, epoll_event* events, int capacity) {
  int count = 0;
  const size_t size = epoll.watches.size();
  for (size_t i = 0; i < size && count < capacity; ++i) {
    sim::Watch& watch = epoll.watches[(epoll.first + i) % size];
    const auto* object = get<sim::Object>(watch.fd);
    const uint32_t ready = object->ready() & (watch.events | EPOLLERR | EPOLLHUP);
    if (ready == 0) continue;
    if ((watch.events & EPOLLET) != 0 && watch.seen == object->wakes) continue;
    watch.seen = object->wakes;
    events[count].events = ready;
    events[count].data = watch.data;
    ++count;
  }
  if (size > 0) epoll.first = (epoll.first + 1) % size;
  return count;
}

int SimSys::epollWait(int epoll_fd, epoll_event* events, int capacity, int timeout_ms) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kEpollWait)) return last_ready_ = -error;
  auto* epoll = get<sim::Epoll>(epoll_fd);
  if (epoll == nullptr) return -EBADF;
  last_ready_ = gather(*epoll, events, capacity);
  if (last_ready_ == 0 && auto_advance_ && timeout_ms != 0 && nextTimerNs() != INT64_MAX) {
    now_ns_ = std::max(now_ns_, nextTimerNs());
    expireTimers();
    last_ready_ = gather(*epoll, events, capacity);
  }
  return last_ready_;
}

int SimSys::timerfdCreate() noexcept {
  const Guard guard(mutex_);
  return full() ? -EMFILE : install(std::make_shared<sim::TimerFd>());
}

int SimSys::timerfdSet(int fd, int64_t absolute_ns) noexcept {
  const Guard guard(mutex_);
  auto* timer = get<sim::TimerFd>(fd);
  if (timer == nullptr) return -EBADF;
  if (absolute_ns < 0) return -EINVAL;
  if (const int error = enter(Call::kTimerfdSet)) return -error;
  timer->deadline_ns = absolute_ns;
  timer->expired = false;
  expireTimers();
  return 0;
}

int SimSys::eventfdCreate() noexcept {
  const Guard guard(mutex_);
  return full() ? -EMFILE : install(std::make_shared<sim::EventFd>());
}

int SimSys::eventfdSignal(int fd) noexcept {
  const Guard guard(mutex_);
  auto* event = get<sim::EventFd>(fd);
  if (event == nullptr) return -EBADF;
  if (const int error = enter(Call::kEventfdSignal)) return -error;
  ++event->count;
  event->wake();
  return 8;
}

// ---- sockets
// --------------------------------------------------------------------------------------------------

int SimSys::socketCreate(int family, int, int) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kSocket)) return -error;
  if (full()) return -EMFILE;
  auto socket = std::make_shared<sim::Socket>();
  socket->family = family;
  return install(socket);
}

int SimSys::bindTo(int fd, const sockaddr* address, socklen_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kBind)) return -error;
  auto* socket = get<sim::Socket>(fd);
  if (socket == nullptr) return -EINVAL;
  socket->local = copyOf(address, len);
  if (address->sa_family == AF_INET || address->sa_family == AF_INET6) {
    auto* port =
        &reinterpret_cast<sockaddr_in*>(&socket->local.storage)->sin_port;  // at the same place in both
    if (*port == 0) *port = htons(next_port_++);
  }
  return listeners_[socket->local.key()].lock() != nullptr ? -EADDRINUSE : 0;
}

int SimSys::listenOn(int fd, int) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kListen)) return -error;
  auto* socket = get<sim::Socket>(fd);
  if (socket == nullptr) return -EINVAL;
  auto listening = std::make_shared<sim::Listening>();
  listening->local = socket->local;
  listeners_[listening->local.key()] = listening;
  objects_[static_cast<size_t>(fd - kFirstFd)] = listening;
  return 0;
}

// As Linux has it, a descriptor is taken before the queue is looked at.
int SimSys::acceptOn(int fd, sockaddr* address, socklen_t* len) noexcept {
  const Guard guard(mutex_);
  auto* listening = get<sim::Listening>(fd);
  if (listening == nullptr) return -EINVAL;
  if (const int error = enter(Call::kAccept)) return -error;
  if (full()) return -EMFILE;
  if (listening->waiting.empty()) return -EAGAIN;
  const auto stream = listening->waiting.front();
  listening->waiting.pop_front();
  copyOut(stream->remote, address, len);
  return install(stream);
}

int SimSys::connectTo(int fd, const sockaddr* address, socklen_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kConnect)) return -error;
  if (get<sim::Socket>(fd) == nullptr) return -EISCONN;
  auto stream = std::make_shared<Stream>();
  stream->capacity = capacity_;
  stream->connecting = true;
  const std::string key = copyOf(address, len).key();
  if (address->sa_family == AF_UNIX) {
    finishConnect(*stream, key);
    if (stream->error != 0) return -stream->error;
  }
  objects_[static_cast<size_t>(fd - kFirstFd)] = stream;
  for (const auto& object : objects_) {  // what watched the socket watches the stream; start anew
    if (auto* epoll = dynamic_cast<sim::Epoll*>(object.get())) {
      for (sim::Watch& watch : epoll->watches) {
        if (watch.fd == fd) watch.seen = 0;
      }
    }
  }
  if (stream->connected) return 0;
  if (hold_connects_) {
    held_.emplace_back(stream, key);
  } else {
    finishConnect(*stream, key);
  }
  return -EINPROGRESS;
}

void SimSys::finishConnect(Stream& stream, const std::string& key) {
  stream.connecting = false;
  const auto listening = listeners_[key].lock();
  if (listening == nullptr) {
    stream.error = ECONNREFUSED;
  } else {
    auto server = std::make_shared<Stream>();
    server->capacity = capacity_;
    server->connected = stream.connected = true;
    server->remote = ipAddress("127.0.0.1", next_port_++);
    stream.peer = server;
    server->peer = stream.weak_from_this();
    listening->waiting.push_back(server);
    listening->wake();
  }
  stream.wake();
}

int SimSys::getSockName(int fd, sockaddr* address, socklen_t* len) noexcept {
  const Guard guard(mutex_);
  if (const auto* listening = get<sim::Listening>(fd)) {
    copyOut(listening->local, address, len);
  } else if (const auto* socket = get<sim::Socket>(fd)) {
    copyOut(socket->local, address, len);
  } else if (const auto* stream = get<Stream>(fd)) {
    copyOut(stream->local, address, len);
  } else {
    return -EBADF;
  }
  return 0;
}

int SimSys::setSockOpt(int fd, int level, int name, const void* value, socklen_t) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kSetSockOpt)) return -error;
  auto* stream = get<Stream>(fd);
  if (stream != nullptr && level == SOL_SOCKET && name == SO_LINGER) {
    const auto* linger = static_cast<const struct linger*>(value);
    stream->hard_close = linger->l_onoff != 0 && linger->l_linger == 0;
  }
  return get<sim::Object>(fd) == nullptr ? -EBADF : 0;
}

int SimSys::socketError(int fd) noexcept {
  const Guard guard(mutex_);
  auto* stream = get<Stream>(fd);
  return stream == nullptr ? EBADF : std::exchange(stream->error, 0);
}

// The way to the peer holds what the peer has not read.
int SimSys::outQueueBytes(int fd) noexcept {
  const Guard guard(mutex_);
  const auto* stream = get<Stream>(fd);
  if (stream == nullptr) return -EBADF;
  const auto other = stream->peer.lock();
  return other == nullptr ? 0 : static_cast<int>(other->in.size());
}

ssize_t SimSys::discardFrom(int fd, size_t len) noexcept {
  std::string bytes(std::min<size_t>(len, 1 << 20), '\0');
  return recvFrom(fd, bytes.data(), bytes.size());
}

ssize_t SimSys::recvFrom(int fd, void* data, size_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kRecv)) return -error;
  auto* stream = get<Stream>(fd);
  if (stream == nullptr) return -EBADF;
  if (interrupted()) return -EINTR;
  if (max_recv_ != 0) len = std::min(len, max_recv_);
  if (!stream->in.empty()) {
    const std::string bytes = stream->take(len);
    std::memcpy(data, bytes.data(), bytes.size());
    return static_cast<ssize_t>(bytes.size());
  }
  if (stream->error != 0) return -std::exchange(stream->error, 0);
  if (stream->fin || stream->reset) return 0;
  return stream->connected ? -EAGAIN : -ENOTCONN;
}

ssize_t SimSys::send(int fd, const iovec* parts, int count, bool more) {
  auto* stream = get<Stream>(fd);
  if (stream == nullptr) return -EBADF;
  if (interrupted()) return -EINTR;
  if (stream->error != 0) return -std::exchange(stream->error, 0);
  if (stream->reset || stream->shut) return -EPIPE;
  if (!stream->connected) return -EAGAIN;
  size_t room = stream->room();
  if (room == 0) return -EAGAIN;
  if (max_send_ != 0) room = std::min(room, max_send_);
  size_t sent = 0;
  for (int i = 0; i < count && sent < room; ++i) {
    const size_t size = std::min(parts[i].iov_len, room - sent);
    if (size > 0) stream->deliver(static_cast<const char*>(parts[i].iov_base), size);
    sent += size;
  }
  stream->sends.push_back({sent, more, false});
  return static_cast<ssize_t>(sent);
}

ssize_t SimSys::sendTo(int fd, const void* data, size_t len, bool more) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kSend)) return -error;
  const iovec part{const_cast<void*>(data), len};
  return send(fd, &part, 1, more);
}

ssize_t SimSys::sendVec(int fd, const iovec* parts, int count, bool more) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kSendVec)) return -error;
  return send(fd, parts, count, more);
}

ssize_t SimSys::sendFile(int out_fd, int in_fd, int64_t offset, size_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kSendFile)) return -error;
  size_t sent = 0;
  char block[65536];
  for (size_t budget = max_send_ != 0 ? std::min(len, max_send_) : len; sent < budget;) {
    const auto* stream = get<Stream>(out_fd);
    const size_t room = stream == nullptr ? 0 : stream->room();
    const size_t want = std::min({sizeof block, budget - sent, std::max<size_t>(room, 1)});
    const ssize_t got = realSys().readAt(in_fd, block, want, offset + static_cast<int64_t>(sent));
    if (got < 0) return got;
    if (got == 0) break;
    const iovec part{block, static_cast<size_t>(got)};
    const ssize_t n = send(out_fd, &part, 1, false);
    if (n < 0) return sent > 0 ? static_cast<ssize_t>(sent) : n;
    sent += static_cast<size_t>(n);
    if (auto* out = get<Stream>(out_fd)) out->sends.back().from_file = true;
    if (n < got) break;
  }
  return static_cast<ssize_t>(sent);
}

int SimSys::shutdownWrite(int fd) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kShutdown)) return -error;
  auto* stream = get<Stream>(fd);
  if (stream == nullptr || !stream->connected || stream->reset) return -ENOTCONN;
  stream->endWriting();
  return 0;
}

// ---- files: the real kernel's
// ---------------------------------------------------------------------------------

int SimSys::opened(int fd) {
  if (fd >= 0) real_fds_.insert(fd);
  return fd;
}

int SimSys::openAt(int dir_fd, const char* path, int flags) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOpen)) return -error;
  return full() ? -EMFILE : opened(realSys().openAt(dir_fd, path, flags));
}

int SimSys::openAt2(int dir_fd, const char* path, uint64_t flags, uint64_t resolve) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOpen)) return -error;
  if ((resolve & RESOLVE_CACHED) != 0) {
    if (cold_names_) return -EAGAIN;
    resolve &= ~uint64_t{RESOLVE_CACHED};  // what the real kernel has in its cache is no test's business
  }
  return full() ? -EMFILE : opened(realSys().openAt2(dir_fd, path, flags, resolve));
}

int SimSys::statFd(int fd, struct stat* out) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kStat)) return -error;
  return realSys().statFd(fd, out);
}

ssize_t SimSys::readLink(const char* path, char* out, size_t len) noexcept {
  return realSys().readLink(path, out, len);
}

int SimSys::statAt(int dir_fd, const char* path, struct stat* out, int flags) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kStat)) return -error;
  return realSys().statAt(dir_fd, path, out, flags);
}

ssize_t SimSys::readLinkAt(int dir_fd, const char* path, char* target, size_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOther)) return -error;
  return realSys().readLinkAt(dir_fd, path, target, len);
}

int64_t SimSys::fileSystemOf(int fd) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOther)) return -error;
  return file_system_ != 0 ? file_system_ : realSys().fileSystemOf(fd);
}

ssize_t SimSys::readFolder(int fd, void* entries, size_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kRead)) return -error;
  return realSys().readFolder(fd, entries, len);
}

ssize_t SimSys::readAt(int fd, void* data, size_t len, int64_t offset) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kRead)) return -error;
  return realSys().readAt(fd, data, len, offset);
}

ssize_t SimSys::readAtNoWait(int fd, void* data, size_t len, int64_t offset) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kRead)) return -error;
  return realSys().readAtNoWait(fd, data, len, offset);
}

int SimSys::inotifyCreate() noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOther)) return -error;
  if (full()) return -EMFILE;
  const int real = realSys().inotifyCreate();
  return real < 0 ? real : install(std::make_shared<sim::Inotify>(real));
}

int SimSys::inotifyAdd(int fd, const char* path, uint32_t mask) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kInotifyAdd)) return -error;
  const auto* inotify = get<sim::Inotify>(fd);
  return inotify == nullptr ? -EBADF : realSys().inotifyAdd(inotify->real_fd, path, mask);
}

int SimSys::inotifyRemove(int fd, int watch) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOther)) return -error;
  const auto* inotify = get<sim::Inotify>(fd);
  return inotify == nullptr ? -EBADF : realSys().inotifyRemove(inotify->real_fd, watch);
}

ssize_t SimSys::inotifyRead(int fd, void* data, size_t len) noexcept {
  const Guard guard(mutex_);
  if (const int error = enter(Call::kOther)) return -error;
  const auto* inotify = get<sim::Inotify>(fd);
  return inotify == nullptr ? -EBADF : realSys().inotifyRead(inotify->real_fd, data, len);
}

}  // namespace roost::test
