#include "modules/static_files/folder_reader.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace roost::modules::static_files {
namespace {

constexpr size_t kBufferBytes = 32 << 10;

// No request's path holds a control character (http::decodePath).
bool canBeAskedFor(std::string_view name) noexcept {
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// One folder being read; lives for one call.
class Reader {
 public:
  Reader(Sys& sys, const FolderRequest& request) : sys_(sys), request_(request), root_(sys, request.root) {}

  FolderContent read() {
    root_.refresh(0, 1, true);
    const std::string relative = request_.path.substr(1);
    bool linked = false;
    fd_ = root_.open(relative.substr(0, relative.size() - (relative.empty() ? 0 : 1)).c_str(),
                     request_.symlinks, true, linked);
    if (fd_ < 0) {
      content_.error = -fd_;
      return std::move(content_);
    }
    content_.error = readAll();
    sys_.closeFd(fd_);
    if (content_.error != 0) content_.items.clear();
    return std::move(content_);
  }

 private:
  int readAll() {
    alignas(dirent64) char buffer[kBufferBytes];
    for (;;) {
      const ssize_t n = sys_.readFolder(fd_, buffer, sizeof buffer);
      if (n == -EINTR) continue;
      if (n <= 0) return static_cast<int>(-n);
      for (size_t at = 0; at < static_cast<size_t>(n);) {
        // The names lie behind one another, each record beginning with its length.
        unsigned short size;
        std::memcpy(&size, buffer + at + offsetof(dirent64, d_reclen), sizeof size);
        if (!take(buffer + at + offsetof(dirent64, d_name))) return 0;
        at += size;
      }
    }
  }

  // False: that was one too many.
  bool take(const char* name) {
    const std::string_view text(name);
    if (text == "." || text == "..") return true;
    if (seen_ == request_.limit) {
      content_.truncated = true;
      return false;
    }
    ++seen_;
    if ((text[0] == '.' && !request_.dot_files) || !canBeAskedFor(text)) return true;
    struct stat info {};
    if (sys_.statAt(fd_, name, &info, AT_SYMLINK_NOFOLLOW) < 0) return true;
    if (S_ISLNK(info.st_mode) && !follow(text, info)) return true;
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return true;
    const bool is_folder = S_ISDIR(info.st_mode);
    content_.items.push_back({std::string(text), is_folder,
                              is_folder ? 0 : static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec});
    return true;
  }

  // Looks at what a link stands for the way a request for it would.
  bool follow(std::string_view name, struct stat& info) {
    if (request_.symlinks == SymlinkPolicy::kNone) return false;
    const std::string path = request_.path.substr(1) + std::string(name);
    bool linked = false;
    const int fd = root_.open(path.c_str(), request_.symlinks, true, linked);
    if (fd < 0) return false;
    const bool known = sys_.statFd(fd, &info) >= 0;
    sys_.closeFd(fd);
    return known;
  }

  Sys& sys_;
  const FolderRequest& request_;
  RootFolder root_;
  int fd_ = -1;
  size_t seen_ = 0;
  FolderContent content_;
};

}  // namespace

FolderContent readFolder(Sys& sys, const FolderRequest& request) {
  return Reader(sys, request).read();
}

}  // namespace roost::modules::static_files
