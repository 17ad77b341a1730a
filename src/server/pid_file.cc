#include "server/pid_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace roost::server {
namespace {

// What the file holds; 0 where that is no number.
pid_t pidIn(int fd) noexcept {
  char text[24];
  const ssize_t size = ::pread(fd, text, sizeof text, 0);
  pid_t pid = 0;
  if (size > 0) std::from_chars(text, text + size, pid);
  return pid > 0 ? pid : 0;
}

// Whether the path still leads to the open file.
bool isAt(const std::string& path, int fd) noexcept {
  struct stat open_file {
  }, named_file{};
  return ::fstat(fd, &open_file) == 0 && ::lstat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

bool isEmpty(int fd) noexcept {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_size == 0;
}

bool isPlainFile(int fd) noexcept {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

Status cannotOpen(const std::string& path, int sys_errno) {
  const char* const why = sys_errno == ELOOP ? " (it is a symbolic link, which is not followed)" : "";
  return Status::fromErrno(sys_errno, fmt::format("cannot open pid_file {}{}", path, why));
}

}  // namespace

PidFile::~PidFile() {
  if (!fd_ || !isAt(path_, fd_.get())) return;
  if (written_ ? pidIn(fd_.get()) != ::getpid() : !isEmpty(fd_.get())) return;
  if (::unlink(path_.c_str()) == 0) return;
  [[maybe_unused]] const int rc = ::ftruncate(fd_.get(), 0);  // the lock tells, whatever it holds
}

Status PidFile::open() {
  if (path_.empty()) return {};
  // What is no plain file might make the opener wait.
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (;;) {
    UniqueFd fd(::open(path_.c_str(), kFlags, 0644));
    if (!fd) return cannotOpen(path_, errno);
    if (!isPlainFile(fd.get())) return Status::error(fmt::format("pid_file {} is no plain file", path_));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK)
        return Status::fromErrno(errno, fmt::format("cannot lock pid_file {}", path_));
      return Status::error(fmt::format("pid_file {} is locked by process {}, which is running: stop it first",
                                       path_, pidIn(fd.get())));
    }
    // A server that ends may have removed the file between the two calls.
    if (!isAt(path_, fd.get())) continue;
    fd_ = std::move(fd);
    return {};
  }
}

Status PidFile::write() {
  if (path_.empty()) return {};
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd_.get(), 0) != 0 ||
      ::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return Status::fromErrno(errno, fmt::format("cannot write pid_file {}", path_));
  }
  written_ = true;
  return {};
}

bool PidFile::isHeld(const std::string& path) noexcept {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace roost::server
