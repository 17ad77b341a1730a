// The process's heap: jemalloc where the build has it (ROOST_JEMALLOC), else the C library's.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace roost::server::heap {

// Starts the thread of jemalloc's that gives freed pages back to the system, about a second after they were
// freed. No other thread spends time on that. Called once by the main thread, when the process has the user
// and the privileges that it is to keep. Without jemalloc there is no such thread, and nothing is done.
Status start() noexcept;

// The address space that a thread takes with its first allocation and that never becomes resident.
uint64_t addressesPerThread() noexcept;

struct Use {
  uint64_t held_bytes = 0;        // of the system's memory
  uint64_t reusable_bytes = 0;    // of those, what is free for the next allocations
  uint64_t given_back_bytes = 0;  // since the start
};
// Any thread. Takes the allocator's locks one after the other, each briefly: 20 to 100 us in all. Without
// jemalloc held_bytes and given_back_bytes are 0.
Use use() noexcept;

// Adds to what use() calls reusable: memory that the server holds for objects to come, which the allocator
// takes to be in use. Any thread.
void countReusable(int64_t bytes) noexcept;

// Hands the memory that this thread's cache holds to the heap of all threads. Any thread.
void flushThreadCache() noexcept;

// Gives back what is free at once. Without jemalloc alone, where nothing else does so; it may take many
// milliseconds.
void trim() noexcept;

}  // namespace roost::server::heap
