#pragma once

#include <atomic>
#include <memory>

#include "base/status.h"
#include "base/sys.h"
#include "event/task.h"

namespace roost::event {

// Tasks from any thread for one loop: a lock-free stack that its loop takes over whole, and an eventfd that
// is signalled only by the post that finds the box empty. Owned by a Loop.
class Mailbox {
 public:
  explicit Mailbox(Sys& sys) noexcept : sys_(sys) {}
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  Status open();
  int fd() const noexcept { return fd_; }          // readable, edge-triggered, when there are tasks
  void post(std::unique_ptr<Task> task) noexcept;  // any thread
  // Runs what is there, in the order of posting. Loop thread.
  void runAll() noexcept;

 private:
  Task* takeAll() noexcept;

  Sys& sys_;
  int fd_ = -1;
  std::atomic<Task*> top_{nullptr};
};

}  // namespace roost::event
