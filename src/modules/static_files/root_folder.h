#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sys.h"
#include "http/mime.h"
#include "http/negotiation.h"
#include "modules/static_files/listing_options.h"
#include "modules/static_files/try_files.h"

namespace roost::modules::static_files {

// Which symbolic links are followed.
enum class SymlinkPolicy : uint8_t { kNone, kWithin, kFollow };

// What one route's "static" says. Immutable; owned by the route's handler.
struct RootOptions {
  uint32_t id = 0;        // tells the folders of all routes ever built apart
  std::string folder;     // absolute
  size_t strip = 0;       // bytes of the request's path that are not looked up (alias)
  std::string only_file;  // an alias of a single path names a file: "/name" below `folder`; else empty
  SymlinkPolicy symlinks = SymlinkPolicy::kWithin;
  bool dot_files = false;
  std::vector<std::string> index;
  std::string charset;
  std::string cache_control;
  std::string server_header;
  size_t max_ranges = 16;
  http::CodingOrder precompressed;  // whose sidecars are served
  TryFiles try_files;
  ListingOptions listing;
  const http::MimeTable* mime = nullptr;  // outlives the handler
};

// Limits of a loop's cache.
struct CacheOptions {
  uint64_t max_bytes = 64 << 20;
  uint64_t max_file_bytes = 64 << 10;
  size_t max_entries = 65536;
  int64_t revalidate_ns = 2'000'000'000;
  bool inotify = true;
};

// RootFolder is one thread's descriptor of the folder that a root's name leads to. The name may come to lead
// to another folder (a deployment that swaps a link), so the descriptor is looked at again from time to time.
// Owned by a LoopFiles, used on its loop only; or made and used within one task.
//
// A look without `may_block` asks the kernel for names that lie in its cache only, so that no loop waits for
// a cold disk or for a network file system whose server hangs.
class RootFolder {
 public:
  RootFolder(Sys& sys, const std::string& folder) : sys_(sys), folder_(folder) {}
  ~RootFolder();
  RootFolder(const RootFolder&) = delete;
  RootFolder& operator=(const RootFolder&) = delete;

  // What has become of the name.
  enum class Look : uint8_t {
    kSame,   // the same folder, or it cannot be opened at the moment: what is open stays in use
    kFirst,  // a folder where none was open
    kMoved,  // another folder: what is known of files is void
    kCold,   // nobody knows without waiting; what is open stays in use
  };

  // Whether it is time to look again.
  bool isDue(int64_t now_ns) const noexcept { return now_ns >= refresh_at_ns_; }
  // Makes sure that the descriptor is the folder's.
  Look refresh(int64_t now_ns, int64_t every_ns, bool may_block) noexcept;
  // Whether opening the name would have to wait.
  bool isCold() noexcept;

  // Makes the next refresh() look, whatever the time.
  void expire() noexcept { refresh_at_ns_ = INT64_MIN; }
  bool isOpen() const noexcept { return fd_ >= 0; }
  // Tells the folder that is open from others.
  std::pair<dev_t, ino_t> identity() const noexcept { return {device_, inode_}; }

  // Opens `relative` ("" is the folder itself) for reading, never blocking on a FIFO. Returns an fd or
  // -errno; without `may_block` -EAGAIN says that it would have to wait. `linked` is set to whether a
  // symbolic link may have been on the way.
  int open(const char* relative, SymlinkPolicy policy, bool may_block, bool& linked) noexcept;
  // Whether the last step of `relative` is a symbolic link.
  bool isSymlink(const char* relative) const noexcept;
  const std::string& folder() const noexcept { return folder_; }

 private:
  int openName(bool may_block) noexcept;
  int openOnce(const char* path, uint64_t flags, uint64_t resolve, bool may_block) noexcept;
  int openInside(const char* path, bool may_block) noexcept;
  int openStepwise(const char* relative) const noexcept;
  std::string nameOf(int fd) const;

  Sys& sys_;
  std::string folder_;
  int fd_ = -1;
  int error_ = ENOENT;       // why there is no fd_
  bool no_openat2_ = false;  // the kernel has said that it has none (before Linux 5.6)
  bool no_cached_ = false;   // nor a way to ask its cache only (before Linux 5.12)
  bool is_network_ = false;  // opening a file may wait for another machine, whatever names are cached
  dev_t device_ = 0;
  ino_t inode_ = 0;
  int64_t refresh_at_ns_ = INT64_MIN;
};

}  // namespace roost::modules::static_files
