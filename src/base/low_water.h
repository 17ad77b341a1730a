#pragma once

#include <algorithm>
#include <cstddef>

namespace roost {

// LowWater tells how many of a store's spare objects nobody has needed between two looks, so that those can
// be freed and a store in steady use keeps what it works with. Part of the store; not thread-safe.
class LowWater {
 public:
  // An object was taken out of the store, and `left` are still in it.
  void taken(size_t left) noexcept { lowest_ = std::min(lowest_, left); }
  // How many the caller is to free, of `count` in the store: those that have been spare ever since the last
  // look, but no more than `most`. Where it is `most`, the look is not over: the caller asks again soon.
  size_t look(size_t count, size_t most) noexcept {
    const size_t unused = std::min(lowest_, most);
    lowest_ = unused == most ? lowest_ - unused : count - unused;
    return unused;
  }

 private:
  size_t lowest_ = 0;
};

}  // namespace roost
