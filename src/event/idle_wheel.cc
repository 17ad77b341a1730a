#include "event/idle_wheel.h"

#include <algorithm>

namespace roost::event {

void IdleWheel::place(WheelNode& node) noexcept {
  // A deadline beyond the horizon is looked at again at the horizon.
  const uint32_t earliest = now_tick_ + 1;
  node.placed_tick_ = std::clamp(node.deadline_tick_, earliest, now_tick_ + kSlots - 1);
  slots_[node.placed_tick_ % kSlots].insertBefore(node);
}

void IdleWheel::set(WheelNode& node, uint32_t deadline_tick) noexcept {
  node.deadline_tick_ = deadline_tick;
  if (!node.linked()) {
    ++size_;
    place(node);
  } else if (deadline_tick < node.placed_tick_) {
    node.unlink();
    place(node);
  }
}

void IdleWheel::remove(WheelNode& node) noexcept {
  if (!node.linked()) return;
  node.unlink();
  --size_;
}

void IdleWheel::advance(uint32_t now_tick) noexcept {
  // After a long pause every slot is visited once, not every tick.
  if (now_tick - now_tick_ > kSlots) now_tick_ = now_tick - kSlots;
  while (now_tick_ != now_tick) {
    ++now_tick_;
    ListHook& slot = slots_[now_tick_ % kSlots];
    ListHook due;
    while (slot.linked()) {
      ListHook& first = *slot.next;
      first.unlink();
      due.insertBefore(first);
    }
    while (due.linked()) {
      WheelNode& node = static_cast<WheelNode&>(*due.next);
      node.unlink();
      if (node.deadline_tick_ > now_tick) {
        place(node);
        continue;
      }
      --size_;
      expired_(node);
    }
  }
}

}  // namespace roost::event
