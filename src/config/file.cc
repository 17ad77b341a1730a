#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/errno_text.h"
#include "base/unique_fd.h"
#include "config/config.h"

namespace roost::config {

Result<std::string> readConfigFile(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer for ever.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    return Status::fromErrno(errno, "the file cannot be opened");
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Status::fromErrno(errno, "the file cannot be examined");
  if (S_ISDIR(info.st_mode)) return Status::error("this is a directory, not a file");
  if (!S_ISREG(info.st_mode)) return Status::error("this is not a regular file");
  std::string text;
  char block[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::fromErrno(errno, "the file cannot be read");
    if (got == 0) return text;
    text.append(block, static_cast<size_t>(got));
    if (text.size() > kMaxFileBytes)
      return Status::error(fmt::format("the file is larger than {} MiB", kMaxFileBytes >> 20));
  }
}

}  // namespace roost::config
