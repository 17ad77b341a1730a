// A simulated kernel, so that tests run the whole server on a clock and sockets of their own and make any
// call fail.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sys.h"
#include "support/sim_objects.h"

namespace roost::test {

class SimPeer;

// The kinds of calls that are counted and can be made to fail.
enum class Call : uint8_t {
  kEpollCtl,
  kEpollWait,
  kTimerfdSet,
  kEventfdSignal,
  kSocket,
  kBind,
  kListen,
  kAccept,
  kConnect,
  kSetSockOpt,
  kRecv,
  kSend,
  kSendVec,
  kSendFile,
  kShutdown,
  kClose,
  kOpen,
  kStat,
  kRead,
  kInotifyAdd,
  kOther,
  kCount
};

// Sockets, epoll, eventfd and timerfd in memory, numbered from kFirstFd; files and the notices of their
// changes are the real kernel's. The
// clock moves only when told, and epollWait with nothing ready returns 0 at once, whatever its timeout.
// Descriptors are reused lowest first, as the kernel does. Owned by a test, outlives what uses it; any
// thread.
class SimSys final : public Sys {
 public:
  static constexpr int kFirstFd = 1'000'000;

  SimSys() = default;
  ~SimSys() = default;
  SimSys(const SimSys&) = delete;
  SimSys& operator=(const SimSys&) = delete;

  // ---- the test's side ----
  void advanceNs(int64_t ns);
  void advanceMs(int64_t ms) { advanceNs(ms * 1'000'000); }
  // The earliest time a timerfd is set to, INT64_MAX without one.
  int64_t nextTimerNs() const;
  void setRealtimeNs(int64_t ns) { realtime_offset_ns_ = ns - now_ns_; }
  // epollWait with nothing ready and a timeout other than 0 moves the clock to the next timer.
  void setAutoAdvance(bool on) { auto_advance_ = on; }

  // A connected socket: the server's descriptor and the test's end of it.
  std::pair<int, SimPeer> connectedPair(std::string_view ip = "127.0.0.1", uint16_t port = 40000);
  // A client of a listening socket, in its queue of connections to accept. REQUIRES: `listen_fd` listens.
  SimPeer connectTo(int listen_fd, std::string_view ip = "127.0.0.1", uint16_t port = 40000);
  // Connection attempts stay under way until released (or end in an error that is set per peer).
  void holdConnects(bool on);

  // Bytes that fit between one end and the other of streams made from now on.
  void setCapacity(size_t bytes) { capacity_ = bytes; }
  void setMaxSend(size_t bytes) { max_send_ = bytes; }  // per call; 0: as many as fit
  void setMaxRecv(size_t bytes) { max_recv_ = bytes; }
  void setFdLimit(size_t count) { fd_limit_ = count; }  // of all open at once; beyond it EMFILE
  // The nth call of a kind from now on fails (1 is the next), and so do the following `times` - 1.
  void failNth(Call call, uint64_t nth, int sys_errno, uint64_t times = 1);
  // The nth call of any kind that can fail in practice does so, with an errno that is usual for it.
  void failAnyNth(uint64_t nth) { fail_any_at_ = failable_ + nth; }
  bool anyFailed() const { return fail_any_at_ != 0 && failable_ >= fail_any_at_; }
  void clearFaults();
  // Nothing that openAt2 is asked for with RESOLVE_CACHED lies in the kernel's cache of names.
  void setColdNames(bool on) { cold_names_ = on; }
  // What fileSystemOf says of every descriptor; 0: what the real kernel does.
  void setFileSystem(int64_t type) { file_system_ = type; }
  // Every nth recv or send is interrupted by a signal first; 0: none.
  void interruptEvery(uint64_t nth) { interrupt_every_ = nth; }

  uint64_t calls(Call call) const { return counts_[static_cast<size_t>(call)]; }
  uint64_t sendCalls() const { return calls(Call::kSend) + calls(Call::kSendVec) + calls(Call::kSendFile); }
  void resetCounts() { counts_.fill(0); }
  int lastReady() const { return last_ready_; }  // what the last epollWait returned, errors too
  // Descriptors that are open now, files opened through this included.
  size_t openFds() const;

  // ---- Sys ----
  int64_t monotonicNs() noexcept override;
  int64_t realtimeNs() noexcept override;
  int epollCreate() noexcept override;
  int epollCtl(int epoll_fd, int op, int fd, epoll_event* event) noexcept override;
  int epollWait(int epoll_fd, epoll_event* events, int capacity, int timeout_ms) noexcept override;
  int timerfdCreate() noexcept override;
  int timerfdSet(int fd, int64_t absolute_ns) noexcept override;
  int eventfdCreate() noexcept override;
  int eventfdSignal(int fd) noexcept override;
  int socketCreate(int family, int type, int protocol) noexcept override;
  int bindTo(int fd, const sockaddr* address, socklen_t len) noexcept override;
  int listenOn(int fd, int backlog) noexcept override;
  int acceptOn(int fd, sockaddr* address, socklen_t* len) noexcept override;
  int connectTo(int fd, const sockaddr* address, socklen_t len) noexcept override;
  int getSockName(int fd, sockaddr* address, socklen_t* len) noexcept override;
  int setSockOpt(int fd, int level, int name, const void* value, socklen_t len) noexcept override;
  int socketError(int fd) noexcept override;
  int outQueueBytes(int fd) noexcept override;
  ssize_t recvFrom(int fd, void* data, size_t len) noexcept override;
  ssize_t discardFrom(int fd, size_t len) noexcept override;
  ssize_t sendTo(int fd, const void* data, size_t len, bool more) noexcept override;
  ssize_t sendVec(int fd, const iovec* parts, int count, bool more) noexcept override;
  ssize_t sendFile(int out_fd, int in_fd, int64_t offset, size_t len) noexcept override;
  int shutdownWrite(int fd) noexcept override;
  int closeFd(int fd) noexcept override;
  int openAt(int dir_fd, const char* path, int flags) noexcept override;
  int openAt2(int dir_fd, const char* path, uint64_t flags, uint64_t resolve) noexcept override;
  int statFd(int fd, struct stat* out) noexcept override;
  ssize_t readLink(const char* path, char* out, size_t len) noexcept override;
  int statAt(int dir_fd, const char* path, struct stat* out, int flags) noexcept override;
  ssize_t readLinkAt(int dir_fd, const char* path, char* target, size_t len) noexcept override;
  int64_t fileSystemOf(int fd) noexcept override;
  ssize_t readFolder(int fd, void* entries, size_t len) noexcept override;
  ssize_t readAt(int fd, void* data, size_t len, int64_t offset) noexcept override;
  ssize_t readAtNoWait(int fd, void* data, size_t len, int64_t offset) noexcept override;
  int inotifyCreate() noexcept override;
  int inotifyAdd(int fd, const char* path, uint32_t mask) noexcept override;
  int inotifyRemove(int fd, int watch) noexcept override;
  ssize_t inotifyRead(int fd, void* data, size_t len) noexcept override;

 private:
  friend class SimPeer;
  struct Fault {
    Call call;
    uint64_t from, to;  // of the count of that kind
    int sys_errno;
  };
  using Guard = std::lock_guard<std::recursive_mutex>;

  int enter(Call call);  // counts; 0 or the errno to fail with
  bool interrupted();
  bool full() const { return openFds() >= fd_limit_; }
  int install(std::shared_ptr<sim::Object> object);
  template <class T>
  T* get(int fd) const;
  int gather(sim::Epoll& epoll, epoll_event* events, int capacity);
  void expireTimers();
  int opened(int fd);
  ssize_t send(int fd, const iovec* parts, int count, bool more);
  std::pair<std::shared_ptr<sim::Stream>, std::shared_ptr<sim::Stream>> streamPair();
  void finishConnect(sim::Stream& stream, const std::string& key);

  mutable std::recursive_mutex mutex_;
  int64_t now_ns_ = 1'000'000'000'000;
  int64_t realtime_offset_ns_ = 1'700'000'000'000'000'000 - 1'000'000'000'000;
  bool auto_advance_ = false;
  bool hold_connects_ = false;
  bool cold_names_ = false;
  int64_t file_system_ = 0;
  size_t capacity_ = 256 * 1024;
  size_t max_send_ = 0;
  size_t max_recv_ = 0;
  size_t fd_limit_ = SIZE_MAX;
  uint64_t interrupt_every_ = 0;
  uint64_t interruptible_ = 0;
  uint64_t failable_ = 0;
  uint64_t fail_any_at_ = 0;
  uint16_t next_port_ = 20000;
  int last_ready_ = 0;
  std::array<uint64_t, static_cast<size_t>(Call::kCount)> counts_{};
  std::array<uint64_t, static_cast<size_t>(Call::kCount)> entered_{};
  std::vector<Fault> faults_;
  std::vector<std::shared_ptr<sim::Object>> objects_;  // by fd - kFirstFd; nullptr: free
  size_t live_ = 0;
  std::set<int> real_fds_;
  std::map<std::string, std::weak_ptr<sim::Listening>> listeners_;
  std::vector<std::pair<std::weak_ptr<sim::Stream>, std::string>> held_;
};

// The other end of a stream, in the hands of a test. Copies name the same end. Used by the thread that runs
// the test.
class SimPeer {
 public:
  SimPeer() = default;
  SimPeer(SimSys& sys, std::shared_ptr<sim::Stream> end, std::shared_ptr<sim::Stream> other)
      : sys_(&sys), end_(std::move(end)), other_(std::move(other)) {}

  explicit operator bool() const { return end_ != nullptr; }
  void write(std::string_view bytes);  // whatever the capacity
  std::string read(size_t most = SIZE_MAX);
  size_t readable() const;
  void shutdownWrite();  // FIN; still reads
  void close();          // FIN, or RST where bytes are left unread
  void reset();          // RST
  bool sawEnd() const;   // FIN has come and everything before it has been read
  bool sawReset() const;
  bool gone() const { return sawEnd() || sawReset(); }
  // The send calls of the other side, in order.
  std::vector<sim::Send> sends() const;
  void forgetSends();

 private:
  SimSys* sys_ = nullptr;
  std::shared_ptr<sim::Stream> end_;
  std::shared_ptr<sim::Stream> other_;
};

}  // namespace roost::test
