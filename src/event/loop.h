#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "base/sys.h"
#include "event/io_handler.h"
#include "event/mailbox.h"
#include "event/task.h"
#include "event/timer_queue.h"

namespace roost::event {

using Nanos = std::chrono::nanoseconds;

// One thread's event loop: epoll, one timerfd under a priority queue of timers, and a mailbox. Made by
// create(), driven by run() on the thread that is to own it; everything but post(), stop() and index() is for
// that thread only.
class Loop {
 public:
  // `index` tells loops apart (0, 1, ...); `sys` outlives the loop.
  static Result<std::unique_ptr<Loop>> create(Sys& sys, uint32_t index);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run() noexcept;                    // until stop()
  void runOnce(int timeout_ms) noexcept;  // one batch of events; for tests and for embedding
  void stop() noexcept;                   // any thread; run() returns after its current batch
  void post(std::unique_ptr<Task> task) noexcept { mailbox_.post(std::move(task)); }  // any thread

  // `events` are epoll's; level-triggered unless EPOLLET is among them.
  // REQUIRES, of the three: the thread has the table of descriptors that the loop's are in.
  Status add(int fd, uint32_t events, IoHandler& handler) noexcept;
  Status modify(int fd, uint32_t events, IoHandler& handler) noexcept;
  void remove(int fd) noexcept;
  // A handler whose events of a batch are handled before all others' (file change notices: a request that
  // came after a change must not be answered from before it). One per loop; nullptr ends it.
  void setFirst(IoHandler* handler) noexcept { first_ = handler; }
  // Asks that handler again, for what may have come since the batch began. It must bear being asked in vain.
  void askFirst() noexcept {
    if (first_ != nullptr) first_->onIo(EPOLLIN);
  }

  void armAt(Timer& timer, int64_t deadline_ns) noexcept;
  void armIn(Timer& timer, Nanos delay) noexcept { armAt(timer, now_ns_ + delay.count()); }
  void cancel(Timer& timer) noexcept { timers_.cancel(timer); }

  // Destroyed (not run) when the current batch of events is over.
  void destroyLater(std::unique_ptr<Task> task) { graveyard_.push_back(std::move(task)); }
  // Called at the end of every batch, before the loop sleeps again. One per loop; nullptr ends it.
  void setAfterBatch(Task* task) noexcept { after_batch_ = task; }

  // The next wait for events returns at once: something is to be gone on with at the end of its batch.
  void skipWait() noexcept { skips_wait_ = true; }
  bool skipsWait() const noexcept { return skips_wait_; }

  // For a loop whose thread is to have a table of descriptors of its own (base/fd_table.h). wakeFd() is what
  // post() signals: every table needs it. ownFds() are for its own thread's alone, which calls
  // enteredTable() once it has split, and closeOwnFds() at its end, since no other thread may do it then.
  int wakeFd() const noexcept { return mailbox_.fd(); }
  std::array<int, 2> ownFds() const noexcept { return {epoll_fd_, timer_fd_}; }
  void enteredTable() noexcept;
  void closeOwnFds() noexcept;

  int64_t nowNs() const noexcept { return now_ns_; }  // monotonic, cached once per batch
  Sys& sys() const noexcept { return sys_; }
  uint32_t index() const noexcept { return index_; }

 private:
  Loop(Sys& sys, uint32_t index) noexcept;
  Status open();
  void dispatch(const epoll_event& event) noexcept;
  void emptyGraveyard() noexcept;
  void rearm() noexcept;

  static constexpr int kBatch = 256;

  Sys& sys_;
  int epoll_fd_ = -1;
  int timer_fd_ = -1;
  Mailbox mailbox_;
  TimerQueue timers_;
  int64_t timer_armed_ns_ = TimerQueue::kNever;  // what the timerfd is set to
  int64_t now_ns_ = 0;
  IoHandler* first_ = nullptr;
  Task* after_batch_ = nullptr;
  std::vector<std::unique_ptr<Task>> graveyard_;
  std::atomic<bool> stopping_{false};
  bool skips_wait_ = false;
  uint32_t index_;
  uint32_t table_;  // fdTable() of its thread
  std::array<epoll_event, kBatch> events_;
};

}  // namespace roost::event
