#pragma once

#include <string>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"

namespace roost::server {

// The pid file: it holds this process's id while it serves, and is locked (flock) for as long. The lock alone
// says whether a server lives; what the file holds may be left over, and its number another process's by now.
// Owned by the Server; main thread.
class PidFile {
 public:
  explicit PidFile(std::string path) : path_(std::move(path)) {}  // empty: there is none
  // Removes the file, or empties it where its folder is no longer writable for the process. A file that
  // another process has put or written there since stays.
  ~PidFile();
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;

  // Opens and locks the file. Errors: another process has it locked; it is a symbolic link or no plain file;
  // it cannot be made.
  Status open();
  // Writes the id. REQUIRES: open() has succeeded.
  Status write();

  // Whether another process has the file at `path` locked.
  static bool isHeld(const std::string& path) noexcept;

 private:
  const std::string path_;
  UniqueFd fd_;
  bool written_ = false;
};

}  // namespace roost::server
