#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

namespace roost::modules::static_files {

// Nanoseconds since 1970; what does not fit (file systems know years that int64_t does not) is the nearest
// that does.
inline int64_t toNs(const timespec& time) noexcept {
  constexpr int64_t kSecondNs = 1'000'000'000;
  constexpr int64_t kMostSeconds = INT64_MAX / kSecondNs - 1;
  return std::clamp<int64_t>(time.tv_sec, -kMostSeconds, kMostSeconds) * kSecondNs + time.tv_nsec;
}

// Tells one state of a file's content from every other. Times in nanoseconds since 1970.
struct FileVersion {
  dev_t device = 0;
  ino_t inode = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  uint64_t size = 0;

  bool operator==(const FileVersion& other) const noexcept {
    return device == other.device && inode == other.inode && mtime_ns == other.mtime_ns &&
           ctime_ns == other.ctime_ns && size == other.size;
  }
};

inline FileVersion versionOf(const struct stat& info) noexcept {
  return {info.st_dev, info.st_ino, toNs(info.st_mtim), toNs(info.st_ctim),
          static_cast<uint64_t>(info.st_size)};
}

}  // namespace roost::modules::static_files
