#include "server/overload.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

#include "log/log.h"

namespace roost::server {
namespace {

using net::Load;

constexpr uint64_t kMiB = 1 << 20;

// Of a file that holds one number; 0 where it does not ("max").
uint64_t numberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : 0;
}

// The smallest limit of the process's cgroup (version 2) and of those it lies in.
uint64_t cgroupLimit() {
  std::ifstream groups("/proc/self/cgroup");
  uint64_t smallest = 0;
  for (std::string line; std::getline(groups, line);) {
    if (line.compare(0, 3, "0::") != 0) continue;
    for (std::string path = line.substr(3); !path.empty(); path.erase(path.rfind('/'))) {
      const uint64_t limit = numberIn("/sys/fs/cgroup" + path + "/memory.max");
      if (limit > 0 && (smallest == 0 || limit < smallest)) smallest = limit;
      if (path.rfind('/') == std::string::npos) break;
    }
  }
  return smallest;
}

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

uint64_t usualMemoryCap() {
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const uint64_t machine = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t group = cgroupLimit();
  return (group == 0 ? machine : std::min(machine, group)) / 5 * 4;
}

MemoryWatch::MemoryWatch(event::Loop& loop, uint64_t max_bytes, std::atomic<Load>& load,
                         metrics::Gauge* resident_gauge, Read read) noexcept
    : loop_(loop), max_bytes_(max_bytes), load_(load), resident_gauge_(resident_gauge), read_(read) {}

uint64_t MemoryWatch::residentBytes() {
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[128];
  const ssize_t size = ::read(fd, text, sizeof text);
  ::close(fd);
  if (size <= 0) return 0;
  // "total resident ...", in pages.
  const char* end = text + size;
  const char* resident = std::find(static_cast<const char*>(text), end, ' ');
  uint64_t pages = 0;
  if (resident != end) std::from_chars(resident + 1, end, pages);
  return pages * page;
}

Load MemoryWatch::judge(uint64_t bytes) const noexcept {
  const Load now = load_.load(std::memory_order_relaxed);
  const uint64_t percent = max_bytes_ / 100;
  if (bytes >= (now == Load::kNoRequests ? percent * 95 : max_bytes_)) return Load::kNoRequests;
  if (bytes >= percent * (now == Load::kFine ? 90 : 85)) return Load::kNoConnections;
  return Load::kFine;
}

// What was freed stays with the allocator, and would count for ever.
uint64_t MemoryWatch::trim(uint64_t bytes) noexcept {
  if (loop_.nowNs() < next_trim_ns_) return bytes;
  ::malloc_trim(0);
  const uint64_t left = read_();
  const bool was_worth_it = left + max_bytes_ / 100 < bytes;
  trim_pause_ns_ = was_worth_it ? kShortestTrimNs : std::min(trim_pause_ns_ * 2, kLongestTrimNs);
  next_trim_ns_ = loop_.nowNs() + trim_pause_ns_;
  return left;
}

void MemoryWatch::onTimer() noexcept {
  uint64_t bytes = read_();
  if (bytes >= max_bytes_ / 100 * 85) {
    bytes = trim(bytes);
  } else {
    trim_pause_ns_ = kShortestTrimNs;
  }
  if (resident_gauge_ != nullptr) resident_gauge_->set(static_cast<int64_t>(bytes));
  const Load load = judge(bytes);
  if (load != load_.load(std::memory_order_relaxed)) {
    LOG_WARN("{} MiB of memory in use, {} MiB allowed: {}", bytes / kMiB, max_bytes_ / kMiB, describe(load));
    load_.store(load, std::memory_order_relaxed);
  }
  loop_.armIn(*this, std::chrono::milliseconds(kStepMs));
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
