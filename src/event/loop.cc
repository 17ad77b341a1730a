#include "event/loop.h"

#include <cassert>
#include <cerrno>
#include <utility>

#include "base/fd_table.h"

namespace roost::event {
namespace {

// epoll's data word names a handler by address; these two stand for the loop's own fds and are never called.
struct Mark final : IoHandler {
  void onIo(uint32_t) noexcept override {}
};
Mark g_mailbox_mark;
Mark g_timer_mark;

}  // namespace

Loop::Loop(Sys& sys, uint32_t index) noexcept : sys_(sys), mailbox_(sys), index_(index), table_(fdTable()) {}

Result<std::unique_ptr<Loop>> Loop::create(Sys& sys, uint32_t index) {
  std::unique_ptr<Loop> loop(new Loop(sys, index));
  Status status = loop->open();
  if (!status.ok()) return status;
  return loop;
}

Status Loop::open() {
  now_ns_ = sys_.monotonicNs();
  epoll_fd_ = sys_.epollCreate();
  if (epoll_fd_ < 0) return Status::fromErrno(-epoll_fd_, "epoll_create1");
  timer_fd_ = sys_.timerfdCreate();
  if (timer_fd_ < 0) return Status::fromErrno(-timer_fd_, "timerfd_create");
  Status status = mailbox_.open();
  if (!status.ok()) return status;
  // Edge-triggered: neither needs to be read to fall silent.
  status = add(mailbox_.fd(), EPOLLIN | EPOLLET, g_mailbox_mark);
  if (!status.ok()) return status;
  return add(timer_fd_, EPOLLIN | EPOLLET, g_timer_mark);
}

Loop::~Loop() {
  emptyGraveyard();
  closeOwnFds();
}

void Loop::enteredTable() noexcept {
  table_ = fdTable();
}

void Loop::closeOwnFds() noexcept {
  for (int* fd : {&timer_fd_, &epoll_fd_}) {
    assert(*fd < 0 || table_ == fdTable());
    if (*fd >= 0) sys_.closeFd(*fd);
    *fd = -1;
  }
}

Status Loop::add(int fd, uint32_t events, IoHandler& handler) noexcept {
  assert(table_ == fdTable());
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  const int rc = sys_.epollCtl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  return rc < 0 ? Status::fromErrno(-rc, "epoll_ctl add") : Status{};
}

Status Loop::modify(int fd, uint32_t events, IoHandler& handler) noexcept {
  assert(table_ == fdTable());
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  const int rc = sys_.epollCtl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
  return rc < 0 ? Status::fromErrno(-rc, "epoll_ctl mod") : Status{};
}

void Loop::remove(int fd) noexcept {
  assert(table_ == fdTable());
  sys_.epollCtl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void Loop::armAt(Timer& timer, int64_t deadline_ns) noexcept {
  timers_.arm(timer, deadline_ns);
  rearm();
}

// Sets the timerfd earlier when it must be; never later: a wake-up too early costs less than a call per
// change.
void Loop::rearm() noexcept {
  const int64_t next = timers_.nextDeadline();
  if (next >= timer_armed_ns_) return;
  timer_armed_ns_ = next;
  sys_.timerfdSet(timer_fd_, next > 0 ? next : 1);
}

void Loop::dispatch(const epoll_event& event) noexcept {
  auto* handler = static_cast<IoHandler*>(event.data.ptr);
  if (handler == &g_mailbox_mark) {
    mailbox_.runAll();
  } else if (handler == &g_timer_mark) {
    timer_armed_ns_ = TimerQueue::kNever;
    timers_.expire(now_ns_);
    rearm();
  } else {
    handler->onIo(event.events);
  }
}

void Loop::runOnce(int timeout_ms) noexcept {
  if (std::exchange(skips_wait_, false)) timeout_ms = 0;
  const int count = sys_.epollWait(epoll_fd_, events_.data(), kBatch, timeout_ms);
  now_ns_ = sys_.monotonicNs();
  if (first_ != nullptr) {
    for (int i = 0; i < count; ++i) {
      epoll_event& event = events_[static_cast<size_t>(i)];
      if (event.data.ptr != first_) continue;
      std::swap(event, events_[0]);
      break;
    }
  }
  for (int i = 0; i < count; ++i) dispatch(events_[static_cast<size_t>(i)]);
  if (after_batch_ != nullptr) after_batch_->run();
  emptyGraveyard();
}

// What is destroyed may leave something else to be destroyed.
void Loop::emptyGraveyard() noexcept {
  while (!graveyard_.empty()) {
    const std::vector<std::unique_ptr<Task>> gone = std::exchange(graveyard_, {});
  }
}

void Loop::run() noexcept {
  while (!stopping_.load(std::memory_order_relaxed)) runOnce(-1);
}

void Loop::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  post(makeTask([] {}));
}

}  // namespace roost::event
