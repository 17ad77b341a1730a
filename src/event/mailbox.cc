#include "event/mailbox.h"

namespace roost::event {

Mailbox::~Mailbox() {
  for (Task* task = takeAll(); task != nullptr;) {
    std::unique_ptr<Task> owned(task);
    task = task->next;
  }
  if (fd_ >= 0) sys_.closeFd(fd_);
}

Status Mailbox::open() {
  fd_ = sys_.eventfdCreate();
  return fd_ >= 0 ? Status{} : Status::fromErrno(-fd_, "eventfd");
}

void Mailbox::post(std::unique_ptr<Task> task) noexcept {
  Task* added = task.release();
  Task* top = top_.load(std::memory_order_relaxed);
  do {
    added->next = top;
  } while (!top_.compare_exchange_weak(top, added, std::memory_order_release, std::memory_order_relaxed));
  if (top == nullptr) sys_.eventfdSignal(fd_);
}

Task* Mailbox::takeAll() noexcept {
  Task* task = top_.exchange(nullptr, std::memory_order_acquire);
  Task* in_order = nullptr;
  while (task != nullptr) {
    Task* next = task->next;
    task->next = in_order;
    in_order = task;
    task = next;
  }
  return in_order;
}

void Mailbox::runAll() noexcept {
  for (Task* task = takeAll(); task != nullptr;) {
    std::unique_ptr<Task> owned(task);
    task = task->next;
    owned->run();
  }
}

}  // namespace roost::event
