#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "base/fd_table.h"
#include "base/sys.h"

namespace roost::net {

// A regular file held open for sending, counted without atomics: all references belong to one loop's thread,
// since an fd number may mean nothing to another, or another file (base/fd_table.h). The last reference
// closes it.
class OpenFile {
 public:
  OpenFile() noexcept = default;
  // Takes over `fd`; `sys` outlives the file.
  OpenFile(Sys& sys, int fd) : rep_(new Rep{&sys, fd, 1, fdTable()}) {}
  OpenFile(const OpenFile& other) noexcept : rep_(other.rep_) {
    if (rep_ != nullptr) ++rep_->refs;
  }
  OpenFile(OpenFile&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  OpenFile& operator=(OpenFile other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~OpenFile() {
    if (rep_ == nullptr || --rep_->refs > 0) return;
    assert(rep_->table == fdTable());
    rep_->sys->closeFd(rep_->fd);
    delete rep_;
  }

  explicit operator bool() const noexcept { return rep_ != nullptr; }
  int fd() const noexcept {
    assert(rep_ == nullptr || rep_->table == fdTable());
    return rep_ == nullptr ? -1 : rep_->fd;
  }

 private:
  struct Rep {
    Sys* sys;
    int fd;
    uint32_t refs;
    uint32_t table;  // where the number means this file
  };
  Rep* rep_ = nullptr;
};

}  // namespace roost::net
