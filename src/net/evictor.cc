#include "net/evictor.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "net/connection.h"
#include "net/io_context.h"

namespace roost::net {

void MemoryRelief::begin(uint64_t wanted_bytes, uint32_t loops) noexcept {
  for (std::atomic<uint64_t>* sum : {&freed_, &dear_bytes_, &dearest_, &idle_bytes_})
    sum->store(0, std::memory_order_relaxed);
  wanted_.store(static_cast<int64_t>(wanted_bytes), std::memory_order_relaxed);
  reporting_.store(loops, std::memory_order_relaxed);
  working_.store(loops, std::memory_order_release);
}

void MemoryRelief::report(const Holdings& holdings) noexcept {
  dear_bytes_.fetch_add(holdings.dear_bytes, std::memory_order_relaxed);
  idle_bytes_.fetch_add(holdings.idle_bytes, std::memory_order_relaxed);
  uint64_t dearest = dearest_.load(std::memory_order_relaxed);
  while (dearest < holdings.dearest &&
         !dearest_.compare_exchange_weak(dearest, holdings.dearest, std::memory_order_relaxed)) {
  }
  reporting_.fetch_sub(1, std::memory_order_release);
}

MemoryRelief::Holdings MemoryRelief::holdings() const noexcept {
  return {dear_bytes_.load(std::memory_order_relaxed), dearest_.load(std::memory_order_relaxed),
          idle_bytes_.load(std::memory_order_relaxed)};
}

void MemoryRelief::freed(uint64_t bytes) noexcept {
  wanted_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  freed_.fetch_add(bytes, std::memory_order_relaxed);
}

void Evictor::Heaviest::begin(size_t most) noexcept {
  most_ = most;
  kept_.clear();
}

// Where memory is out, it makes do with what it has.
void Evictor::Heaviest::add(Candidate candidate) noexcept {
  const auto lighter_on_top = [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; };
  if (kept_.size() == most_) {
    if (most_ == 0 || candidate.weight <= kept_.front().weight) return;
    std::pop_heap(kept_.begin(), kept_.end(), lighter_on_top);
    kept_.back() = candidate;
  } else {
    try {
      kept_.push_back(candidate);
    } catch (const std::bad_alloc&) {
      most_ = kept_.size();
      return;
    }
  }
  std::push_heap(kept_.begin(), kept_.end(), lighter_on_top);
}

void Evictor::Heaviest::end() noexcept {
  std::sort(kept_.begin(), kept_.end(),
            [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; });
}

Evictor::Candidate Evictor::Heaviest::take() noexcept {
  const Candidate heaviest = kept_.back();
  kept_.pop_back();
  if (kept_.empty()) std::vector<Candidate>().swap(kept_);
  return heaviest;
}

Evictor::Evictor(IoContext& io) noexcept : io_(io) {
  io_.setEvictor(this);
}

Evictor::~Evictor() {
  io_.setEvictor(nullptr);
  io_.loop().cancel(*this);
}

Evictor::Evicted Evictor::evictIdle() noexcept {
  const size_t most = std::min(io_.size() / 16 + 1, kMostIdle);
  if (!walking_) {
    const size_t closed = closeIdle(most);
    if (closed > 0 || io_.loop().nowNs() < next_idle_walk_ns_) return {closed, false};
    beginWalk();
  }
  owed_ = std::max(owed_, most);
  const uint64_t before = evictedCount();
  if (next_slot_ == 0) turn();  // often the only one
  return {static_cast<size_t>(evictedCount() - before), walking_};
}

void Evictor::askForIdle() noexcept {
  if (asked_.exchange(true, std::memory_order_relaxed)) return;
  io_.loop().post(event::makeTask([this] {
    asked_.store(false, std::memory_order_relaxed);
    static_cast<void>(evictIdle());
  }));
}

bool RoomSeeker::ask() noexcept {
  uint64_t evicted = 0;
  for (const Evictor* evictor : evictors_) evicted += evictor->evictedCount();
  const bool may_help = !evictors_.empty() && (!has_asked_ || evicted != evicted_when_asked_);
  has_asked_ = true;
  evicted_when_asked_ = evicted;
  for (Evictor* evictor : evictors_) evictor->askForIdle();
  return may_help;
}

void Evictor::relieve(MemoryRelief& relief) noexcept {
  if (relief_ != nullptr) return relief.leave();
  relief_ = &relief;
  reported_ = false;
  waits_ = 0;
  beginWalk();  // one that was under way has not looked at what connections hold
  turn();
}

void Evictor::beginWalk() noexcept {
  walking_ = true;
  next_slot_ = 0;
  found_ = {};
  const size_t most = std::max<size_t>(1024, io_.size() / 16);
  dear_.begin(most);
  idle_.begin(most);
}

void Evictor::turn() noexcept {
  if (walking_) walkOn();
  if (!walking_ && owed_ > 0) closeIdle(std::exchange(owed_, size_t{0}));
  int64_t pause_ns = walking_ ? 0 : kOver;
  if (!walking_ && relief_ != nullptr) pause_ns = relieveOn();
  if (pause_ns != kOver) {
    io_.loop().armIn(*this, std::chrono::nanoseconds(pause_ns));
  } else if (relief_ != nullptr) {
    dear_ = Heaviest();
    std::exchange(relief_, nullptr)->leave();
  }
}

void Evictor::walkOn() noexcept {
  next_slot_ = io_.forEachFrom(next_slot_, kTurnSlots, [this](Connection& connection) { look(connection); });
  if (next_slot_ != 0) return;
  walking_ = false;
  dear_.end();
  idle_.end();
  if (idle_.empty()) next_idle_walk_ns_ = io_.loop().nowNs() + kIdleWalkPauseNs;
}

void Evictor::look(Connection& connection) noexcept {
  if (connection.closed() || !connection.accepted()) return;
  const uint32_t slot = connection.slot();
  const uint32_t idle_ms = connection.session()->idleMs(connection);
  if (idle_ms != Session::kBusy) {
    found_.idle_bytes += kIdleBytes;
    idle_.add({idle_ms, slot, io_.generation(connection)});
  } else if (relief_ != nullptr) {
    const uint64_t bytes = connection.reclaimableBytes();
    if (bytes < kLeastDear) return;
    found_.dear_bytes += bytes;
    found_.dearest = std::max(found_.dearest, bytes);
    dear_.add({bytes, slot, io_.generation(connection)});
  }
}

// One turn of a round, after the walk. Returns when the next one is due, kOver after the last.
int64_t Evictor::relieveOn() noexcept {
  if (!std::exchange(reported_, true)) relief_->report(found_);
  if (!relief_->allReported() && waits_++ < kMostWaits) return kWaitNs;
  if (relief_->wantedBytes() <= 0) return kOver;
  const MemoryRelief::Holdings all = relief_->holdings();
  // Where caches or histories hold what is missing, nobody gains by the loss of a few connections.
  const auto worth_it = static_cast<uint64_t>(relief_->wantedBytes()) / 8;
  if (std::max(all.dear_bytes, all.idle_bytes) < worth_it) return kOver;
  const bool more = all.dear_bytes >= all.idle_bytes ? resetDearest(all.dearest / 8) : closeIdleForMemory();
  return more && relief_->wantedBytes() > 0 ? 0 : kOver;
}

// Those that hold least_bytes or more; the others may follow in another round. Returns whether there are
// more.
bool Evictor::resetDearest(uint64_t least_bytes) noexcept {
  for (size_t i = 0; i < kTurnResets && relief_->wantedBytes() > 0; ++i) {
    if (dear_.empty()) return false;
    const Candidate candidate = dear_.take();
    if (candidate.weight < least_bytes) return false;
    Connection* connection = io_.find(candidate.slot, candidate.generation);
    if (connection == nullptr || connection->closed()) continue;
    const uint64_t bytes = connection->reclaimableBytes();
    if (bytes < std::max(kLeastDear, least_bytes)) continue;
    connection->reset();
    relief_->freed(bytes);
    if (counters_ != nullptr) counters_->dear.add();
  }
  return true;
}

bool Evictor::closeIdleForMemory() noexcept {
  const size_t closed = closeIdle(kMostIdle);
  relief_->freed(closed * kIdleBytes);
  return closed == kMostIdle;
}

// Of those that the last walk has found and that nothing has happened on since. Those that it has not found
// became idle later.
size_t Evictor::closeIdle(size_t most) noexcept {
  size_t closed = 0;
  while (closed < most && !idle_.empty()) {
    const Candidate candidate = idle_.take();
    Connection* connection = io_.find(candidate.slot, candidate.generation);
    if (connection == nullptr || connection->closed()) continue;
    const uint32_t idle_ms = connection->session()->idleMs(*connection);
    if (idle_ms == Session::kBusy || idle_ms < candidate.weight) continue;
    connection->close();
    ++closed;
  }
  evicted_.store(evictedCount() + closed, std::memory_order_relaxed);
  if (counters_ != nullptr) counters_->idle.add(closed);
  return closed;
}

}  // namespace roost::net
