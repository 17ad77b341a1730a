// Memory that is out, for as long as an object of this lives: what memory::allocate() and allocateForPeer()
// get.
#pragma once

#include <cstdlib>

#include "base/memory.h"

namespace roost::test {

class NoMemory {
 public:
  // Refuses requests of at least so many bytes.
  explicit NoMemory(size_t from_bytes = 0) noexcept {
    fromBytes() = from_bytes;
    memory::setSource(&give);
  }
  ~NoMemory() { memory::setSource(&std::malloc); }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

 private:
  static size_t& fromBytes() noexcept {
    static size_t bytes = 0;
    return bytes;
  }
  static void* give(size_t bytes) { return bytes >= fromBytes() ? nullptr : std::malloc(bytes); }
};

}  // namespace roost::test
