// Where lines end up: one buffer, one file, rolled and reopened; or stderr.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "log/options.h"
#include "log/record.h"

namespace roost::log::detail {

// Which file, and when another is begun.
struct FileOptions {
  std::string directory;  // made where missing; empty: write to stderr
  std::string base_name;  // the file is <directory>/<base_name><suffix>
  std::string suffix = ".log";
  uint64_t roll_size_bytes = 0;  // a file that would grow beyond this is rolled; 0: never for its size
  bool roll_daily = true;
  int keep_files = 0;  // rolled files kept, oldest removed first; 0: all

  std::string path() const;
};

// Makes the file and its folders where they are missing, and gives them, and a file that is the process's
// own, to `owner`, as whom the process will write. A folder that is there already stays as it is. Errors: as
// FileSink::open().
Status makeFor(const FileOptions& options, FileOwner owner);

// See log::checkFile().
Status checkLogFile(const std::string& path);

// Collects lines and writes them in large pieces. Owned by the Logger, used by one thread at a time under its
// lock.
//
// Rolling renames <base>.log to <base>.<time of its last line>.<number>.log and opens <base>.log anew: before
// a line that would take the file beyond roll_size_bytes, and before the first line of another day (UTC). A
// write that fails loses nothing at first: the lines stay in the buffer and are tried again at each flush;
// when the buffer is full they are given up, counted, and the log says so once writing works again. Lines are
// given up whole.
class FileSink {
 public:
  static constexpr size_t kBufferBytes = 256 * 1024;

  FileSink() { buffer_.reserve(2 * kBufferBytes); }

  // Opens the file for appending, making the directory; without a directory writes to stderr.
  Status open(const FileOptions& options, int64_t now_ns);
  // Rolls by other rules from now on; the file stays.
  void setRolling(const FileOptions& options) noexcept;
  // Writes what it can and goes back to stderr. What could not be written is counted as lost.
  void close() noexcept;
  // Opens the file by its name again. On failure the old file stays in use.
  Status reopen(int64_t now_ns);

  // Lines are appended here; after each one lineDone() is called with the offset at which it starts and its
  // time.
  LineBuffer& buffer() noexcept { return buffer_; }
  void lineDone(size_t line_start, int64_t realtime_ns);
  // Hands everything to the kernel. False when that failed.
  bool flush() noexcept;

  // What happened since the last call and should be said in the log; empty when nothing did.
  std::string takeNews();

  bool isOpen() const noexcept { return static_cast<bool>(file_); }
  int fd() const noexcept { return file_ ? file_.get() : 2; }
  std::string path() const;
  uint64_t lostLines() const noexcept { return lost_lines_; }
  uint64_t writeErrors() const noexcept { return write_errors_; }
  uint64_t rolls() const noexcept { return rolls_; }

 private:
  bool writeOut(size_t bytes) noexcept;
  void writeFailed(int sys_errno) noexcept;
  void writeWorks() noexcept;
  void giveUpLines() noexcept;
  void eraseFront(size_t bytes) noexcept;
  void roll(size_t line_start, int64_t realtime_ns);
  Status renameToRolled();
  void removeOldest();
  Status openFile(int64_t now_ns);
  int64_t endOfPeriod(int64_t realtime_ns) const noexcept;

  FileOptions options_;
  UniqueFd file_;       // none: stderr
  uint32_t table_ = 0;  // of descriptors, in which file_ is
  LineBuffer buffer_;
  bool regular_ = false;     // a device or pipe is never rolled
  bool mid_line_ = false;    // the last byte written was not the end of a line
  uint64_t file_bytes_ = 0;  // including what is in the buffer
  int64_t last_line_ns_ = 0;
  int64_t day_end_ns_ = 0;      // the first moment that belongs to another file
  uint64_t roll_at_bytes_ = 0;  // 0: never

  std::string rolled_stem_;     // of the last rolled file
  unsigned rolled_number_ = 0;  // the next one's

  bool failing_ = false;
  int last_errno_ = 0;
  uint64_t failed_writes_ = 0;  // in this outage
  uint64_t lost_at_start_ = 0;  // lost_lines_ when it began
  std::string news_;

  uint64_t lost_lines_ = 0;
  uint64_t write_errors_ = 0;
  uint64_t rolls_ = 0;
};

}  // namespace roost::log::detail
