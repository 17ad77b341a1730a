#include "base/word_sets.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace roost {

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(WordSets::Set) == 64);

Result<WordSets> WordSets::create(uint64_t max_keys) {
  const uint64_t count = std::max<uint64_t>(1, max_keys / 2 + max_keys % 2);
  if (count >= uint64_t{1} << 32) return Status::error("a table of so many keys is not supported");
  void* pages = ::mmap(nullptr, count * sizeof(Set), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    return Status::fromErrno(errno, "memory for " + std::to_string(max_keys) + " keys");
  }
  return WordSets(static_cast<Set*>(pages), count);  // fresh pages are zero, which is what an empty set is
}

WordSets::WordSets(WordSets&& other) noexcept
    : sets_(std::exchange(other.sets_, nullptr)), count_(other.count_) {}

WordSets::~WordSets() {
  if (sets_ != nullptr) ::munmap(sets_, bytes());
}

}  // namespace roost
