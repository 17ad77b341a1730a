#include "event/timer_queue.h"

#include <cassert>
#include <new>

namespace roost::event {
namespace {

// Frees the memory that many timers took, once few are left: few, so that the move takes no time.
template <class T>
void giveBack(std::vector<T>& entries) noexcept {
  constexpr size_t kKept = 1024;
  if (entries.capacity() <= kKept || entries.size() > entries.capacity() / 16) return;
  try {
    std::vector<T> fewer;
    fewer.reserve(entries.size() * 4 + kKept / 4);
    fewer.assign(entries.begin(), entries.end());
    entries.swap(fewer);
  } catch (const std::bad_alloc&) {  // then it stays as it is
  }
}

}  // namespace

void TimerQueue::place(size_t index, Entry entry) noexcept {
  heap_[index] = entry;
  entry.timer->heap_index_ = static_cast<uint32_t>(index);
}

void TimerQueue::siftUp(size_t index, Entry entry) noexcept {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (heap_[parent].deadline_ns <= entry.deadline_ns) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, entry);
}

void TimerQueue::siftDown(size_t index, Entry entry) noexcept {
  const size_t count = heap_.size();
  for (;;) {
    size_t child = 2 * index + 1;
    if (child >= count) break;
    if (child + 1 < count && heap_[child + 1].deadline_ns < heap_[child].deadline_ns) ++child;
    if (entry.deadline_ns <= heap_[child].deadline_ns) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, entry);
}

void TimerQueue::arm(Timer& timer, int64_t deadline_ns) {
  const Entry entry{deadline_ns, &timer};
  if (!timer.armed()) {
    heap_.push_back(entry);
    siftUp(heap_.size() - 1, entry);
    return;
  }
  const size_t index = timer.heap_index_;
  if (deadline_ns < heap_[index].deadline_ns) {
    siftUp(index, entry);
  } else {
    siftDown(index, entry);
  }
}

Timer* TimerQueue::removeAt(size_t index) noexcept {
  Timer* timer = heap_[index].timer;
  timer->heap_index_ = Timer::kIdle;
  const Entry last = heap_.back();
  heap_.pop_back();
  giveBack(heap_);
  if (index < heap_.size()) {
    if (index > 0 && last.deadline_ns < heap_[(index - 1) / 2].deadline_ns) {
      siftUp(index, last);
    } else {
      siftDown(index, last);
    }
  }
  return timer;
}

void TimerQueue::cancel(Timer& timer) noexcept {
  if (timer.armed()) removeAt(timer.heap_index_);
  // It may also be due in the batch that expire() is calling right now.
  for (Timer*& due : due_) {
    if (due == &timer) due = nullptr;
  }
}

void TimerQueue::expire(int64_t now_ns) noexcept {
  assert(due_.empty());
  while (!heap_.empty() && heap_.front().deadline_ns <= now_ns) due_.push_back(removeAt(0));
  for (size_t i = 0; i < due_.size(); ++i) {
    Timer* timer = due_[i];
    due_[i] = nullptr;
    // One that an earlier callback armed anew waits for its new deadline.
    if (timer != nullptr && !timer->armed()) timer->onTimer();
  }
  due_.clear();
  giveBack(due_);
}

}  // namespace roost::event
