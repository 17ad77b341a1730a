#pragma once

#include <cstdint>

#include "base/list.h"

namespace roost::event {

// A deadline that costs a store to extend: a node stays in the bucket it was put into and is looked at again
// when that bucket comes round. Used for the many coarse timeouts of connections. Ticks are the owner's unit
// (see IdleWheel).
class WheelNode : private ListHook {
 public:
  uint32_t deadlineTick() const noexcept { return deadline_tick_; }

 protected:
  WheelNode() noexcept = default;
  ~WheelNode() = default;

 private:
  friend class IdleWheel;
  uint32_t deadline_tick_ = 0;
  uint32_t placed_tick_ = 0;
};

// A timing wheel of kSlots buckets. It does not keep time itself: its owner calls advance() with the current
// tick. Nodes belong to their users. Loop thread only.
class IdleWheel {
 public:
  static constexpr uint32_t kSlots = 512;
  using Expired = void (*)(WheelNode&) noexcept;

  // `expired` is called with a node whose deadline has passed; the node is out of the wheel by then.
  explicit IdleWheel(Expired expired) noexcept : expired_(expired) {}

  // Sets or moves a node's deadline. Later than before: one store. The deadline lies in the future: it is
  // called at the first advance() to or past `deadline_tick`, at the earliest the next tick.
  void set(WheelNode& node, uint32_t deadline_tick) noexcept;
  void remove(WheelNode& node) noexcept;
  // Moves time on and calls what is due.
  void advance(uint32_t now_tick) noexcept;

  uint32_t nowTick() const noexcept { return now_tick_; }
  uint32_t size() const noexcept { return size_; }

 private:
  void place(WheelNode& node) noexcept;

  ListHook slots_[kSlots];
  Expired expired_;
  uint32_t now_tick_ = 0;
  uint32_t size_ = 0;
};

}  // namespace roost::event
