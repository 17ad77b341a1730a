#include "server/heap_watch.h"

#include <algorithm>
#include <chrono>

#include "server/heap.h"
#include "server/overload.h"

namespace roost::server {

uint64_t memoryInUse(uint64_t floor_bytes) {
  const uint64_t resident = MemoryWatch::residentBytes();
  if (resident < floor_bytes) return resident;
  return resident - std::min(resident, heap::use().reusable_bytes);
}

HeapWatch::HeapWatch(event::Loop& loop, metrics::Registry& metrics)
    : loop_(loop),
      resident_(metrics.gauge({"roost_resident_bytes", "Memory of the process that is resident.", "bytes"})),
      in_use_(metrics.gauge(
          {"roost_memory_in_use_bytes",
           "Resident memory without what is free in it: what overload.max_memory_bytes caps.", "bytes"})),
      held_(metrics.gauge({"roost_heap_held_bytes", "Memory that the heap has of the system.", "bytes"})),
      reusable_(metrics.gauge(
          {"roost_heap_reusable_bytes",
           "Memory of the heap that is free for the next allocations; it counts as unused where "
           "memory is capped.",
           "bytes"})),
      given_back_(metrics.counter({"roost_heap_given_back_bytes_total",
                                   "Memory that the heap has given back to the system.", "bytes"})) {}

void HeapWatch::onTimer() noexcept {
  const heap::Use use = heap::use();
  const uint64_t resident = MemoryWatch::residentBytes();
  resident_.set(static_cast<int64_t>(resident));
  in_use_.set(static_cast<int64_t>(resident - std::min(resident, use.reusable_bytes)));
  held_.set(static_cast<int64_t>(use.held_bytes));
  reusable_.set(static_cast<int64_t>(use.reusable_bytes));
  given_back_.add(use.given_back_bytes - std::min(use.given_back_bytes, given_back_.value()));
  loop_.armIn(*this, std::chrono::seconds(1));
}

}  // namespace roost::server
