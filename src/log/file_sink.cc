#include "log/file_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/errno_text.h"
#include "base/fd_table.h"
#include "log/line_formatter.h"

namespace roost::log::detail {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kNsPerDay = 86'400 * kNsPerSecond;
constexpr int kStderrWaitMs = 1000;

int64_t endOfDay(int64_t realtime_ns) noexcept {
  return (realtime_ns / kNsPerDay + 1) * kNsPerDay;
}

// write(2) that waits a while for a full pipe on a non-blocking stderr.
ssize_t writeSome(int fd, const char* data, size_t bytes) noexcept {
  for (bool waited = false;;) {
    const ssize_t n = ::write(fd, data, bytes);
    if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
    if (errno == EINTR) continue;
    if (waited) return -1;
    waited = true;
    pollfd writable{fd, POLLOUT, 0};
    ::poll(&writable, 1, kStderrWaitMs);
    errno = EAGAIN;
  }
}

bool isAllDigits(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Of "<base>.20261120-101225.007<suffix>" the key by which rolled files are ordered; empty for other names.
std::string rolledOrder(std::string_view name, std::string_view base, std::string_view suffix) {
  constexpr size_t kDay = 8, kTime = kDay + 1 + 6;
  if (name.size() < base.size() + kTime + suffix.size() + 3 || name.substr(0, base.size()) != base) return {};
  if (name[base.size()] != '.' || name.substr(name.size() - suffix.size()) != suffix) return {};
  const std::string_view middle = name.substr(base.size() + 1, name.size() - base.size() - 1 - suffix.size());
  if (middle.size() < kTime + 2 || middle[kTime] != '.' || middle[kDay] != '-') return {};
  const std::string_view number = middle.substr(kTime + 1);
  if (!isAllDigits(middle.substr(0, kDay)) || !isAllDigits(middle.substr(kDay + 1, 6)) ||
      !isAllDigits(number))
    return {};
  return std::string(middle.substr(0, kTime)) + std::string(20 - std::min<size_t>(20, number.size()), '0') +
         std::string(number);
}

// The standard stream that a path names; -1: another file. Opening the path would ask for rights that the
// process may have given up since it was started with the stream.
int standardStream(const std::string& name) noexcept {
  if (name == "/dev/stdout") return STDOUT_FILENO;
  return name == "/dev/stderr" ? STDERR_FILENO : -1;
}

// A link is not followed: who may write the folder could lead the server to a file of their choice.
int openLogFile(const std::string& name) noexcept {
  const int stream = standardStream(name);
  if (stream >= 0) return ::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  // O_NONBLOCK: a FIFO that nobody reads is an error here, not a start that hangs. Files do not heed it.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  return ::open(name.c_str(), kFlags, 0640);
}

Status openError(const std::string& name, int sys_errno) {
  if (sys_errno == ELOOP)
    return Status::fromErrno(sys_errno, "log file " + name + " is a symbolic link, which is not followed");
  return Status::fromErrno(sys_errno, "log file " + name);
}

// Makes the folder and those above it that are missing, for `owner`.
Status makeFolders(const std::string& folder, FileOwner owner) {
  for (size_t end = 0; end != std::string::npos;) {
    end = folder.find('/', end + 1);
    const std::string part = folder.substr(0, end);
    if (::mkdir(part.c_str(), 0755) != 0) {
      if (errno == EEXIST) continue;
      return Status::fromErrno(errno, "log directory " + part);
    }
    const UniqueFd fd(::open(part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd || ::fchown(fd.get(), owner.user, owner.group) != 0)
      return Status::fromErrno(errno, "log directory " + part);
  }
  return {};
}

}  // namespace

Status checkLogFile(const std::string& path) {
  const auto unusable = [&path](int sys_errno) {
    return Status::fromErrno(sys_errno, "cannot write \"" + path + "\"");
  };
  struct stat info {};
  if (standardStream(path) >= 0) return {};
  if (::lstat(path.c_str(), &info) == 0) {
    if (S_ISLNK(info.st_mode)) return openError(path, ELOOP);
    if (S_ISDIR(info.st_mode)) return unusable(EISDIR);
    return ::access(path.c_str(), W_OK) == 0 ? Status() : unusable(errno);
  }
  if (errno != ENOENT) return unusable(errno);
  if (path.back() == '/') return unusable(EISDIR);
  std::string folder = path;
  do {
    folder.erase(folder.rfind('/'));
  } while (!folder.empty() && ::stat(folder.c_str(), &info) != 0 && errno == ENOENT);
  if (folder.empty()) folder = "/";
  if (::stat(folder.c_str(), &info) != 0) return unusable(errno);
  if (!S_ISDIR(info.st_mode)) return unusable(ENOTDIR);
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? Status() : unusable(errno);
}

std::string FileOptions::path() const {
  return directory + "/" + base_name + suffix;
}

// A file with a second name may be anybody's, put there as a trap.
Status makeFor(const FileOptions& options, FileOwner owner) {
  if (options.directory.empty() || standardStream(options.path()) >= 0) return {};
  Status status = makeFolders(options.directory, owner);
  if (!status.ok()) return status;
  const std::string name = options.path();
  const UniqueFd file(openLogFile(name));
  if (!file) return openError(name, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return openError(name, errno);
  const bool is_ours = S_ISREG(info.st_mode) && info.st_nlink == 1 && info.st_uid == ::geteuid();
  if (is_ours && ::fchown(file.get(), owner.user, owner.group) != 0) return openError(name, errno);
  return {};
}

std::string FileSink::path() const {
  return options_.path();
}

Status FileSink::open(const FileOptions& options, int64_t now_ns) {
  options_ = options;
  file_.reset();
  news_.clear();
  failing_ = mid_line_ = regular_ = false;
  if (options.directory.empty()) return {};
  Status status = openFile(now_ns);
  if (status.ok() && regular_ && ::access(options.directory.c_str(), W_OK | X_OK) != 0) {
    news_ =
        fmt::format(FMT_STRING("{} cannot be rolled: its folder is not writable for the server's user ({})"),
                    path(), ::geteuid());
  }
  return status;
}

void FileSink::setRolling(const FileOptions& options) noexcept {
  options_.roll_size_bytes = options.roll_size_bytes;
  options_.roll_daily = options.roll_daily;
  options_.keep_files = options.keep_files;
  roll_at_bytes_ = regular_ ? options_.roll_size_bytes : 0;
  day_end_ns_ = endOfPeriod(last_line_ns_);
}

int64_t FileSink::endOfPeriod(int64_t realtime_ns) const noexcept {
  return options_.roll_daily ? endOfDay(realtime_ns) : INT64_MAX;
}

Status FileSink::openFile(int64_t now_ns) {
  std::error_code error;
  std::filesystem::create_directories(options_.directory, error);
  if (error) return Status::fromErrno(error.value(), "log directory " + options_.directory);
  const std::string name = path();
  UniqueFd file(openLogFile(name));
  if (!file) return openError(name, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return openError(name, errno);
  file_ = std::move(file);
  table_ = fdTable();
  regular_ = S_ISREG(info.st_mode) && standardStream(name) < 0;
  file_bytes_ = regular_ ? static_cast<uint64_t>(info.st_size) : 0;
  last_line_ns_ = file_bytes_ == 0 ? now_ns : info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec;
  day_end_ns_ = endOfPeriod(last_line_ns_);
  roll_at_bytes_ = regular_ ? options_.roll_size_bytes : 0;
  return {};
}

void FileSink::close() noexcept {
  if (!flush()) {
    giveUpLines();
    buffer_.clear();  // the rest of a line that had begun
  }
  file_.reset();
  regular_ = mid_line_ = failing_ = false;
}

Status FileSink::reopen(int64_t now_ns) {
  if (!file_) return {};
  flush();
  Status status = openFile(now_ns);
  if (!status.ok()) return status;
  mid_line_ = false;
  file_bytes_ += buffer_.size();
  return status;
}

void FileSink::lineDone(size_t line_start, int64_t realtime_ns) {
  const uint64_t line_bytes = buffer_.size() - line_start;
  if (regular_) {
    const bool too_large = roll_at_bytes_ != 0 && file_bytes_ + line_bytes > roll_at_bytes_;
    if ((too_large || realtime_ns >= day_end_ns_) && !failing_) roll(line_start, realtime_ns);
  }
  file_bytes_ += line_bytes;
  last_line_ns_ = realtime_ns;
  if (buffer_.size() >= kBufferBytes) {
    flush();
    if (buffer_.size() >= kBufferBytes) giveUpLines();
  }
}

bool FileSink::flush() noexcept {
  return writeOut(buffer_.size());
}

bool FileSink::writeOut(size_t bytes) noexcept {
  assert(!file_ || table_ == fdTable());
  size_t done = 0;
  int error = 0;
  while (done < bytes && error == 0) {
    const ssize_t n = writeSome(fd(), buffer_.data() + done, bytes - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else {
      error = n < 0 ? errno : EIO;
    }
  }
  if (done != 0) mid_line_ = buffer_.data()[done - 1] != '\n';
  eraseFront(done);
  if (error != 0) {
    writeFailed(error);
  } else if (failing_ && bytes != 0) {
    writeWorks();
  }
  return error == 0;
}

void FileSink::eraseFront(size_t bytes) noexcept {
  const size_t rest = buffer_.size() - bytes;
  if (bytes != 0 && rest != 0) std::memmove(buffer_.data(), buffer_.data() + bytes, rest);
  buffer_.resize(rest);
}

void FileSink::writeFailed(int sys_errno) noexcept {
  ++write_errors_;
  if (!failing_) {
    failing_ = true;
    failed_writes_ = 0;
    lost_at_start_ = lost_lines_;
    // The one place left to say it; once per outage.
    if (file_) ::dprintf(STDERR_FILENO, "log: cannot write %s: %s\n", path().c_str(), errnoText(sys_errno));
  }
  ++failed_writes_;
  last_errno_ = sys_errno;
}

void FileSink::writeWorks() noexcept {
  failing_ = false;
  news_ = fmt::format(FMT_STRING("writing works again after {} failed writes ({}): {} lines lost"),
                      failed_writes_, errnoText(last_errno_), lost_lines_ - lost_at_start_);
}

// Keeps the rest of a line whose front is in the file already, so that no line is broken.
void FileSink::giveUpLines() noexcept {
  const char* begin = buffer_.data();
  const char* end = begin + buffer_.size();
  const char* keep_until = begin;
  if (mid_line_) {
    keep_until = std::find(begin, end, '\n');
    if (keep_until != end) ++keep_until;
  }
  lost_lines_ += static_cast<uint64_t>(std::count(keep_until, end, '\n'));
  file_bytes_ -= std::min<uint64_t>(file_bytes_, static_cast<uint64_t>(end - keep_until));
  buffer_.resize(static_cast<size_t>(keep_until - begin));
}

void FileSink::roll(size_t line_start, int64_t realtime_ns) {
  if (!writeOut(line_start)) return;
  if (file_bytes_ != 0) {
    if (const Status status = renameToRolled(); !status.ok()) {
      news_ = "cannot roll: " + status.message();
      roll_at_bytes_ = options_.roll_size_bytes == 0 ? 0 : file_bytes_ + options_.roll_size_bytes;
      day_end_ns_ = endOfPeriod(realtime_ns);
      return;
    }
    ++rolls_;
    if (const Status status = openFile(realtime_ns); !status.ok())
      news_ = "after rolling: " + status.message();
    if (options_.keep_files > 0) removeOldest();
  }
  day_end_ns_ = endOfPeriod(realtime_ns);
}

Status FileSink::renameToRolled() {
  const std::string from = path();
  struct stat open_file {
  }, named_file{};
  if (::stat(from.c_str(), &named_file) != 0) return {};  // renamed by someone else: only open it anew
  if (::fstat(file_.get(), &open_file) != 0) return Status::fromErrno(errno, from);
  if (open_file.st_ino != named_file.st_ino || open_file.st_dev != named_file.st_dev) return {};
  std::string stem = options_.directory + "/" + options_.base_name + "." + compactTime(last_line_ns_);
  if (stem != rolled_stem_) {
    rolled_stem_ = std::move(stem);
    rolled_number_ = 0;
  }
  // Numbers of one second only grow, even when files are removed meanwhile: they are the order of the files.
  for (;; ++rolled_number_) {
    const std::string to =
        fmt::format(FMT_STRING("{}.{:03}{}"), rolled_stem_, rolled_number_, options_.suffix);
    if (::access(to.c_str(), F_OK) == 0) continue;
    if (::rename(from.c_str(), to.c_str()) != 0) return Status::fromErrno(errno, to);
    ++rolled_number_;
    return {};
  }
}

void FileSink::removeOldest() {
  std::error_code error;
  std::vector<std::pair<std::string, std::filesystem::path>> rolled;
  for (std::filesystem::directory_iterator it(options_.directory, error), end; !error && it != end;
       it.increment(error)) {
    std::string order = rolledOrder(it->path().filename().string(), options_.base_name, options_.suffix);
    if (!order.empty()) rolled.emplace_back(std::move(order), it->path());
  }
  std::sort(rolled.begin(), rolled.end());
  const auto keep = static_cast<size_t>(options_.keep_files);
  for (size_t i = 0; i + keep < rolled.size(); ++i) std::filesystem::remove(rolled[i].second, error);
}

std::string FileSink::takeNews() {
  return std::exchange(news_, {});
}

}  // namespace roost::log::detail
