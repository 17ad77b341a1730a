#include "server/pid_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>

#include "base/unique_fd.h"

namespace roost::server {
namespace {

// What the file holds; 0 where it is missing or holds no number.
pid_t pidIn(const std::string& path) noexcept {
  // What is no plain file might make the reader wait.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char text[24];
  const ssize_t size = fd ? ::read(fd.get(), text, sizeof text) : 0;
  pid_t pid = 0;
  if (size > 0) std::from_chars(text, text + size, pid);
  return pid > 0 ? pid : 0;
}

bool lives(pid_t pid) noexcept {
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace

PidFile::~PidFile() {
  if (written_ && pidIn(path_) == ::getpid()) ::unlink(path_.c_str());
}

Status PidFile::check() const {
  if (path_.empty()) return {};
  const pid_t pid = pidIn(path_);
  if (pid == 0 || pid == ::getpid() || !lives(pid)) return {};
  return Status::error(fmt::format(
      "pid_file {} names process {}, which is running: stop it, or remove the file if that is no server",
      path_, pid));
}

Status PidFile::write() {
  if (path_.empty()) return {};
  const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const std::string text = fmt::format("{}\n", ::getpid());
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Status::fromErrno(errno, fmt::format("cannot write pid_file {}", path_));
  }
  written_ = true;
  return {};
}

}  // namespace roost::server
