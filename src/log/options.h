// How the log is told where and how to write, and what it says about itself.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "log/level.h"

namespace roost::log {

enum class OnFull : uint8_t { kDrop, kBlock };  // what a thread does when its ring is full
enum class Format : uint8_t { kText, kJson };

struct Options {
  Level level = Level::kInfo;
  bool async = true;                 // false: every call formats and writes before it returns
  int flush_second = 3;              // a line waits at most this long before it is written; 0: not at all
  uint64_t roll_size_bytes = 0;      // a file that would grow beyond this is rolled; 0: by day only
  std::string directory;             // made where missing; empty: write to stderr
  std::string base_name = "server";  // the file is <directory>/<base_name>.log
  OnFull on_full = OnFull::kDrop;
  Format format = Format::kText;
  size_t thread_buffer_bytes =
      256 * 1024;                   // ring of each thread, rounded up to a power of two, at least 16 KiB
  int keep_files = 0;               // rolled files kept, oldest removed first; 0: all
  bool crash_handler = true;        // SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL write what is in flight
  int64_t (*clock_ns)() = nullptr;  // for tests: nanoseconds since 1970 in place of the system's clocks
};

// Whose a file is to be.
struct FileOwner {
  uid_t user;
  gid_t group;
};

// Counted since the start of the process. A line is in exactly one of lines, dropped; a line of lines may end
// in lost.
struct Stats {
  uint64_t lines = 0;           // taken from the threads and formatted
  uint64_t dropped = 0;         // refused because a ring was full
  uint64_t lost = 0;            // formatted, but given up because the file could not be written
  uint64_t write_errors = 0;    // failed write calls
  uint64_t rolls = 0;           // files rolled
  uint64_t failed_reopens = 0;  // of a file, by its name, that reopen() asked for
};

}  // namespace roost::log
