#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace roost::server {

// The file that holds this process's number while it serves. Owned by the Server; main thread.
class PidFile {
 public:
  explicit PidFile(std::string path) : path_(std::move(path)) {}  // empty: there is none
  ~PidFile();  // removes it, unless another process has written its own number there since
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;

  // Errors: it holds the number of another process that lives.
  Status check() const;
  // Errors: it cannot be written.
  Status write();

 private:
  const std::string path_;
  bool written_ = false;
};

}  // namespace roost::server
