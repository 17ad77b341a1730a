#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/sys.h"
#include "http/exchange.h"
#include "net/open_file.h"

namespace roost::modules::static_files {

// A stretch of a file to send, and how a task thread finds the file by itself.
struct FileRange {
  net::OpenFile file;
  std::string full_path;  // for warming up only
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Whether the whole stretch seems to be in memory: a page every 256 KiB is asked for.
bool isWarm(Sys& sys, int fd, uint64_t offset, uint64_t size) noexcept;

// Reads a stretch of a file on a task thread, so that it is in memory, and then runs `next` with the exchange
// on its loop if that is still there. False: there is no task thread to be had; nothing happens.
bool warmUp(http::Exchange& exchange, std::string full_path, uint64_t offset, uint64_t size,
            void (*next)(http::Exchange&));

// Sends a large file in windows. A window that is not in memory is read by a task thread first, so that the
// loop never waits for a disk; the next one is looked at when the last has left. The answer's head has been
// begun.
class FileSender final : public http::ExchangeListener {
 public:
  static constexpr uint64_t kWindowBytes = 4 << 20;

  // Sends `range` and ends the answer. REQUIRES: begin() has been called with a length of range.size.
  static void send(http::Exchange& exchange, FileRange range);

  void onWritable() noexcept override { step(); }

 private:
  FileSender(http::Exchange& exchange, FileRange range) : exchange_(exchange), range_(std::move(range)) {}
  void step() noexcept;

  http::Exchange& exchange_;
  FileRange range_;
  bool warmed_ = false;  // the next window has been read already; whatever became of it, it is sent now
};

}  // namespace roost::modules::static_files
