// Further files beside the server's own log, an access log for one, written by the same log thread out of the
// same rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "base/status.h"
#include "log/front.h"
#include "log/options.h"

namespace roost::log {

using detail::LineBuffer;

namespace detail {
struct Output;
class Logger;
}  // namespace detail

struct StreamOptions {
  std::string path;                // of the file; its folder is made where missing
  uint64_t roll_size_bytes = 0;    // a file that would grow beyond this is rolled; 0: never for its size
  bool roll_daily = false;         // the first line of another day (UTC) begins another file
  int flush_second = 1;            // a line waits at most this long before it is written
  int keep_files = 0;              // rolled files kept, oldest removed first; 0: all
  OnFull on_full = OnFull::kDrop;  // when a thread's ring is full
};

// Makes lines of a stream's records. Owned by its stream; called by one thread at a time, the log thread
// unless `async` is off, and so may remember what it has formatted.
class RecordFormat {
 public:
  virtual ~RecordFormat() = default;
  // Appends the record that Stream::write() was given, as a whole line with its end. At most a few bytes per
  // byte of the record: the file's buffer has 256 KiB free.
  virtual void appendLine(const char* record, int64_t realtime_ns, LineBuffer& out) = 0;
};

// One kind of lines into one file. Streams of the same path share the file, and what the latest of them says
// of rolling and flushing counts.
//
// Any thread writes, holding the stream. When the last holder lets go, what it wrote is still written; the
// log thread frees the stream once it has been through every ring, and closes a file that no stream is left
// for. What is written while the log does not run is counted as dropped.
class Stream {
 public:
  // Errors: the file cannot be opened, where the log runs already; otherwise log::start() opens it and fails.
  static Result<std::shared_ptr<Stream>> open(const StreamOptions& options,
                                              std::unique_ptr<RecordFormat> format);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Every ring takes records of this size.
  static constexpr size_t kMaxRecordBytes = 4000;

  // Calls fill(char*), which fills in `bytes` bytes, aligned as detail::kRecordAlign says. No lock and no
  // allocation; a record that finds the thread's ring full is dropped and counted, or its caller waits, as
  // the stream's options say. REQUIRES: bytes <= kMaxRecordBytes.
  template <class Fill>
  void write(size_t bytes, Fill&& fill) noexcept {
    detail::ThreadBuffer* const buffer = detail::currentBuffer();
    if (buffer == nullptr) {
      alignas(detail::kRecordAlign) char record[kMaxRecordBytes];
      fill(record);
      writeDirectly(record);
      return;
    }
    const size_t record_bytes = detail::recordBytes(bytes);
    char* const to = buffer->reserve(record_bytes, blocks_);
    if (to == nullptr) return;
    const detail::RecordHead head{&site_, detail::stampNow(), static_cast<uint32_t>(record_bytes), 0};
    std::memcpy(to, &head, sizeof head);
    fill(to + sizeof head);
    buffer->commit(record_bytes);
    detail::wakeAfter(Level::kInfo);
  }

 private:
  friend class detail::Logger;
  Stream(detail::Output& output, std::unique_ptr<RecordFormat> format, bool blocks) noexcept;
  ~Stream() = default;
  struct Freed {
    void operator()(Stream* stream) const noexcept { delete stream; }
  };
  void writeDirectly(const char* record) noexcept;

  const detail::Site site_;
  const bool blocks_;
  detail::Output* output_;  // under the Logger's lock; null: nobody holds the stream any more
  const std::unique_ptr<RecordFormat> format_;
  Stream* next_retired_ = nullptr;
  bool kept_ = false;  // a ring that the log has let go of may still name it
};

}  // namespace roost::log
