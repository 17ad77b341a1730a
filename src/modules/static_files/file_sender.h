#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/sys.h"
#include "http/exchange.h"
#include "net/open_file.h"

namespace roost::modules::static_files {

// Whether the whole stretch seems to be in memory: a page every 256 KiB is asked for.
bool isWarm(Sys& sys, int fd, uint64_t offset, uint64_t size) noexcept;

// Reads a stretch of a file on a task thread, so that it is in memory, and then runs `next` with the exchange
// on its loop if that is still there. False: there is no task thread to be had; nothing happens.
bool warmUp(http::Exchange& exchange, std::string full_path, uint64_t offset, uint64_t size,
            void (*next)(http::Exchange&));

// A stretch of a file, and what is sent before it.
struct FilePart {
  std::string head;
  uint64_t offset = 0;
  uint64_t size = 0;  // not 0
};

// What a FileSender sends: parts of one file, and what follows the last.
struct FileContent {
  net::OpenFile file;
  std::string full_path;  // for warming up only: how a task thread finds the file by itself
  std::vector<FilePart> parts;
  std::string end;
};

// Sends large stretches of a file in windows. A window that is not in memory is read by a task thread first,
// so that the loop never waits for a disk; the next one is looked at when the last has left. Owned by its
// exchange, loop thread only.
class FileSender final : public http::ExchangeListener, private event::Timer {
 public:
  static constexpr uint64_t kWindowBytes = 4 << 20;

  // Sends `content` and ends the answer. REQUIRES: begin() has been called with the length of it all.
  static void send(http::Exchange& exchange, FileContent content);
  ~FileSender() override;

  void onBody(std::string_view piece, bool fin) noexcept override;
  void onWritable() noexcept override;

 private:
  FileSender(http::Exchange& exchange, FileContent content)
      : exchange_(exchange), loop_(exchange.context().loop()), content_(std::move(content)) {}
  static void onWarm(http::Exchange& exchange);
  void onTimer() noexcept override;
  bool beginWarming(uint64_t offset, uint64_t size);
  void step() noexcept;

  static constexpr event::Nanos kRetryAfter{10'000'000};  // while every task thread has enough to do

  http::Exchange& exchange_;
  event::Loop& loop_;
  FileContent content_;
  size_t next_part_ = 0;
  bool warming_ = false;  // a task thread is at work, or waited for; nothing is sent meanwhile
  bool warmed_ = false;   // the next window has been read already; whatever became of it, it is sent now
};

}  // namespace roost::modules::static_files
