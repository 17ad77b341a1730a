#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "event/loop.h"
#include "event/task_pool.h"
#include "http/counters.h"
#include "http/date_cache.h"
#include "http/service.h"
#include "net/io_context.h"
#include "net/load_gate.h"

namespace roost::http {

class Exchange;
class Trace;

// Names of exchanges that somebody else holds: a slot and a generation. Loop thread only.
class ExchangeTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Name {
    uint32_t slot = kNone;
    uint32_t generation = 0;
    bool given() const noexcept { return slot != kNone; }
  };
  Name add(Exchange& exchange);
  Name nameOf(uint32_t slot) const noexcept { return {slot, entries_[slot].generation}; }
  void remove(uint32_t slot) noexcept;
  Exchange* find(Name name) const noexcept;  // nullptr: it is over

 private:
  struct Entry {
    Exchange* exchange;
    uint32_t generation;
    uint32_t next_free;
  };
  std::vector<Entry> entries_;
  uint32_t free_ = kNone;
};

// What HTTP keeps per loop. Owned by the server beside the loop it belongs to; loop thread only, unless it
// says otherwise. Outlives every exchange of the loop.
class LoopContext {
 public:
  // `tasks` is shared by all loops and outlives this.
  LoopContext(net::IoContext& io, event::TaskPool& tasks) noexcept;
  ~LoopContext();

  // The Service that new exchanges use; those under way keep theirs.
  void setService(std::shared_ptr<const Service> service);
  const Service& service() const noexcept { return *pin_->service; }
  ServicePin& pin() noexcept {
    ++pin_->exchanges;
    return *pin_;
  }
  void unpin(ServicePin& pin) noexcept {
    if (--pin.exchanges == 0 && &pin != pin_.get()) dropRetired(pin);
  }

  net::IoContext& io() noexcept { return io_; }
  event::Loop& loop() noexcept { return io_.loop(); }
  uint32_t index() const noexcept { return io_.loop().index(); }
  DateCache& date() noexcept { return date_; }
  event::TaskPool& tasks() noexcept { return tasks_; }
  ExchangeTable& exchanges() noexcept { return exchanges_; }

  // Writes 32 hexadecimal digits that were never written before.
  void nextRequestId(std::array<char, 32>& out) noexcept;

  // Counts there; it outlives this. nullptr, as at first: nowhere.
  void setCounters(const HttpCounters* counters) noexcept { counters_ = counters; }
  const HttpCounters* counters() const noexcept { return counters_; }
  // There is no memory for what a request has brought or asks for: counts and logs that. The caller answers
  // 503 or 507.
  void noteNoMemory() const noexcept;

  // Whether new requests are to be refused at once; nullptr, as at first: never.
  void setGate(const net::LoadGate* gate) noexcept { gate_ = gate; }
  bool shedsRequests() const noexcept { return gate_ != nullptr && !gate_->admitsRequests(); }
  PreparedResponse& overloadPage() { return pin_->overloadPage(); }

  // Exchanges of this loop tell it what they do; nullptr, as always while serving: nobody.
  void setTrace(Trace* trace) noexcept { trace_ = trace; }
  Trace* trace() const noexcept { return trace_; }

 private:
  void dropRetired(ServicePin& pin) noexcept;

  net::IoContext& io_;
  event::TaskPool& tasks_;
  const HttpCounters* counters_ = nullptr;
  Trace* trace_ = nullptr;
  const net::LoadGate* gate_ = nullptr;
  const uint64_t request_id_base_;          // random
  std::array<char, 16> request_id_prefix_;  // the same in digits
  uint64_t last_request_ = 0;
  DateCache date_;
  ExchangeTable exchanges_;
  std::unique_ptr<ServicePin> pin_;
  std::vector<std::unique_ptr<ServicePin>> retired_;
};

}  // namespace roost::http
