#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>

namespace roost::memory {
namespace {

constexpr size_t kPartBytes = 1 << 20;
constexpr size_t kParts = kReserveBytes / kPartBytes;

// Mapped, not allocated: what goes back to the system has to be free for any thread's arena.
std::array<std::atomic<void*>, kParts> g_parts{};
std::atomic<Source> g_source{&std::malloc};

void* mapPart(size_t bytes) noexcept {
  void* part = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return part == MAP_FAILED ? nullptr : part;
}

// False: nothing is left.
bool releasePart() noexcept {
  for (std::atomic<void*>& part : g_parts) {
    void* const memory = part.exchange(nullptr);
    if (memory == nullptr) continue;
    detail::g_reserve_in_use.store(true);
    ::munmap(memory, kPartBytes);
    return true;
  }
  return false;
}

void onNewFailed() {
  if (detail::t_for_peer || !releasePart()) throw std::bad_alloc();
}

}  // namespace

namespace detail {
std::atomic<bool> g_reserve_in_use{false};
thread_local bool t_for_peer = false;
}  // namespace detail

void openReserve() noexcept {
  for (std::atomic<void*>& part : g_parts) part.store(mapPart(kPartBytes), std::memory_order_release);
  std::set_new_handler(&onNewFailed);
}

void refillReserve() noexcept {
  if (!reserveInUse()) return;
  void* const besides = mapPart(kReserveBytes);
  if (besides == nullptr) return;
  for (std::atomic<void*>& part : g_parts) {
    if (part.load() == nullptr) part.store(mapPart(kPartBytes));
  }
  ::munmap(besides, kReserveBytes);
  // In this order, since another thread may take a part meanwhile: it says so behind its taking.
  detail::g_reserve_in_use.store(false);
  const bool whole =
      std::all_of(g_parts.begin(), g_parts.end(), [](auto& part) { return part.load() != nullptr; });
  if (!whole) detail::g_reserve_in_use.store(true);
}

void* allocate(size_t bytes) noexcept {
  const Source source = g_source.load(std::memory_order_relaxed);
  for (;;) {
    void* const memory = source(bytes);
    if (memory != nullptr || !releasePart()) return memory;
  }
}

void* allocateForPeer(size_t bytes) noexcept {
  return reserveInUse() ? nullptr : g_source.load(std::memory_order_relaxed)(bytes);
}

Source setSource(Source source) noexcept {
  return g_source.exchange(source, std::memory_order_relaxed);
}

}  // namespace roost::memory
