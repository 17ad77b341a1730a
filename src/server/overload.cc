#include "server/overload.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "log/log.h"
#include "server/heap.h"

namespace roost::server {
namespace {

using net::Load;

constexpr uint64_t kMiB = 1 << 20;

const char* describe(Load load) noexcept {
  switch (load) {
    case Load::kFine:
      return "everything is let in again";
    case Load::kNoConnections:
      return "new connections wait";
    case Load::kNoRequests:
      return "new connections wait, new requests are refused";
  }
  return "";
}

}  // namespace

uint64_t usualMemoryCap(const SystemFacts& facts, const ProcessMemory& now) {
  uint64_t least = facts.memory_bytes.value_or(0);
  const auto take = [&least](uint64_t bytes) { least = least == 0 ? bytes : std::min(least, bytes); };
  if (facts.memory_limit_bytes) take(*facts.memory_limit_bytes);
  const auto takeRest = [&](const std::optional<uint64_t>& limit, uint64_t counted) {
    if (!limit) return;
    const uint64_t never_resident = counted - std::min(counted, now.resident_bytes);
    take(std::max(*limit - std::min(*limit, never_resident), now.resident_bytes));
  };
  takeRest(facts.address_space_limit_bytes, now.address_space_bytes);
  takeRest(facts.data_limit_bytes, now.data_bytes);
  return least / 5 * 4;
}

ProcessMemory readProcessMemory() {
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  ProcessMemory memory;
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return memory;
  char text[128];
  const ssize_t size = ::read(fd, text, sizeof text);
  ::close(fd);
  if (size <= 0) return memory;
  // "total resident shared text library data ...", in pages.
  uint64_t pages[6] = {};
  const char* at = text;
  const char* const end = text + size;
  for (uint64_t& number : pages) {
    at = std::find_if(at, end, [](char c) { return c != ' '; });
    at = std::from_chars(at, end, number).ptr;
  }
  memory.address_space_bytes = pages[0] * page;
  memory.resident_bytes = pages[1] * page;
  memory.data_bytes = pages[5] * page;
  return memory;
}

MemoryWatch::MemoryWatch(event::Loop& loop, std::atomic<Load>& load, Read read) noexcept
    : loop_(loop), load_(load), read_(read) {}

uint64_t MemoryWatch::residentBytes() {
  return readProcessMemory().resident_bytes;
}

void MemoryWatch::start(uint64_t max_bytes) noexcept {
  max_bytes_.store(max_bytes, std::memory_order_relaxed);
  look();
}

// What must not wait for the main thread's turn is said at once.
void MemoryWatch::onGrowth() noexcept {
  if (max_bytes_.load(std::memory_order_relaxed) == 0) return;
  const uint64_t bytes = read_(floorBytes());
  Load now = load_.load(std::memory_order_relaxed);
  Load load = judge(bytes, now);
  if (load <= now) return;
  while (now < load && !load_.compare_exchange_weak(now, load, std::memory_order_relaxed)) {
  }
  if (look_posted_.exchange(true, std::memory_order_relaxed)) return;
  loop_.post(event::makeTask([this] {
    look_posted_.store(false, std::memory_order_relaxed);
    look();
  }));
}

Load MemoryWatch::judge(uint64_t bytes, Load now) const noexcept {
  const uint64_t max_bytes = max_bytes_.load(std::memory_order_relaxed);
  const uint64_t percent = max_bytes / 100;
  if (bytes >= (now == Load::kNoRequests ? percent * 95 : max_bytes)) return Load::kNoRequests;
  if (bytes >= percent * (now == Load::kFine ? 90 : 85)) return Load::kNoConnections;
  return Load::kFine;
}

// What was freed stays with the allocator, and would count for ever.
uint64_t MemoryWatch::trim(uint64_t bytes) noexcept {
  if (loop_.nowNs() < next_trim_ns_) return bytes;
  heap::trim();
  const uint64_t left = read_(floorBytes());
  const bool was_worth_it = left + max_bytes_.load(std::memory_order_relaxed) / 100 < bytes;
  trim_pause_ns_ = was_worth_it ? kShortestTrimNs : std::min(trim_pause_ns_ * 2, kLongestTrimNs);
  next_trim_ns_ = loop_.nowNs() + trim_pause_ns_;
  return left;
}

void MemoryWatch::look() noexcept {
  endRound();
  const uint64_t max_bytes = max_bytes_.load(std::memory_order_relaxed);
  uint64_t bytes = read_(floorBytes());
  if (bytes >= floorBytes()) {
    bytes = trim(bytes);
  } else {
    trim_pause_ns_ = kShortestTrimNs;
  }
  const Load load = judge(bytes, load_.load(std::memory_order_relaxed));
  load_.store(load, std::memory_order_relaxed);
  if (load != told_) {
    LOG_WARN("{} MiB of memory in use, {} MiB allowed: {}", bytes / kMiB, max_bytes / kMiB, describe(load));
    told_ = load;
  }
  if (load != Load::kFine) relieve(bytes);
  loop_.armIn(*this, std::chrono::milliseconds(load == Load::kFine ? kStepMs : kShortStepMs));
}

// What the loops have freed may be given back to the system; where they had nothing to give, asking is of
// less use.
void MemoryWatch::endRound() noexcept {
  if (!in_round_ || !relief_.over()) return;
  in_round_ = false;
  const uint64_t freed = relief_.freedBytes();
  relief_pause_ns_ = freed > 0 ? kShortestReliefNs : std::min(relief_pause_ns_ * 2, kLongestReliefNs);
  if (freed == 0) return;
  next_trim_ns_ = 0;
  LOG_EVERY_SECOND(WARN, "connections that held {} KiB of memory have been reset or closed", freed / 1024);
}

// Down to 80 % of the cap, so that new connections are let in again.
void MemoryWatch::relieve(uint64_t bytes) noexcept {
  if (ask_loops_ == nullptr || in_round_ || loop_.nowNs() < next_relief_ns_) return;
  const uint64_t goal = max_bytes_.load(std::memory_order_relaxed) / 100 * 80;
  if (bytes <= goal) return;
  in_round_ = true;
  next_relief_ns_ = loop_.nowNs() + relief_pause_ns_;
  relief_.begin(bytes - goal, loop_count_);
  ask_loops_(relief_);
}

void LagWatch::start() noexcept {
  due_ns_ = loop_.nowNs() + int64_t{kStepMs} * 1'000'000;
  loop_.armAt(*this, due_ns_);
}

Load LagWatch::judge() const noexcept {
  if (lag_ns_ >= (load_ == Load::kNoRequests ? max_ns_ / 2 : max_ns_)) return Load::kNoRequests;
  if (lag_ns_ >= (load_ == Load::kFine ? max_ns_ / 2 : max_ns_ / 4)) return Load::kNoConnections;
  return Load::kFine;
}

void LagWatch::onTimer() noexcept {
  lag_ns_ += (loop_.nowNs() - due_ns_ - lag_ns_) / 4;
  const Load load = judge();
  if (load != load_) {
    LOG_EVERY_SECOND(WARN, "IO thread {} is {} ms late, {} ms allowed: {}", loop_.index(),
                     lag_ns_ / 1'000'000, max_ns_ / 1'000'000, describe(load));
    load_ = load;
    gate_.setOwn(load);
  }
  start();
}

}  // namespace roost::server
