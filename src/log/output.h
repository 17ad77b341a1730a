#pragma once

#include <cstddef>
#include <cstdint>

#include "log/file_sink.h"

namespace roost::log::detail {

// One file that the log thread writes: the log's own or that of streams. Belongs to the Logger, under its
// lock.
struct Output {
  FileSink sink;
  FileOptions file;
  int64_t flush_interval_ns = 0;
  int64_t flush_due_ns = 0;  // monotonic; 0: nothing waits in the sink
  size_t streams = 0;
};

}  // namespace roost::log::detail
