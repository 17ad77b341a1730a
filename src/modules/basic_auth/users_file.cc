#include "modules/basic_auth/users_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
#include "log/log.h"
#include "modules/basic_auth/password_hash.h"

namespace roost::modules::basic_auth {

Result<std::shared_ptr<const UserTable>> UserTable::parse(std::string_view text, const std::string& name) {
  auto table = std::make_shared<UserTable>();
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto error = [&](std::string_view what) {
      return Status::error(fmt::format("{}:{}: {}", name, number, what));
    };
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line[0] == '#') continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return error("no colon: a line is \"name:hash\"");
    const std::string user(line.substr(0, colon));
    if (user.empty()) return error("no name before the colon");
    if (user.size() > kMaxNameBytes) return error(fmt::format("a name of more than {} bytes", kMaxNameBytes));
    line.remove_prefix(colon + 1);
    std::string hash(line.substr(0, line.find(':')));
    hash.erase(hash.find_last_not_of(" \t") + 1);
    const Status good = checkPasswordHash(hash);
    if (!good.ok()) return error(fmt::format("user \"{}\": {}", user, good.message()));
    const auto [entry, fresh] = table->hashes_.emplace(user, std::move(hash));
    if (!fresh) return error(fmt::format("user \"{}\" stands here twice", user));
    table->all_.push_back(&entry->second);
  }
  return std::shared_ptr<const UserTable>(std::move(table));
}

const std::string* UserTable::hashOf(const std::string& user) const noexcept {
  const auto found = hashes_.find(user);
  return found == hashes_.end() ? nullptr : &found->second;
}

const std::string* UserTable::substituteFor(std::string_view user) const noexcept {
  return all_.empty() ? nullptr : all_[sipHash13(key_, user) % all_.size()];
}

bool UsersFile::Mark::operator==(const Mark& other) const noexcept {
  return device == other.device && inode == other.inode && size == other.size &&
         modified_ns == other.modified_ns && changed_ns == other.changed_ns;
}

UsersFile::UsersFile(std::string path)
    : path_(std::move(path)), id_([] {
        static std::atomic<uint64_t> last{0};
        return ++last;
      }()) {}

Result<std::shared_ptr<UsersFile>> UsersFile::open(const std::string& path) {
  std::shared_ptr<UsersFile> file(new UsersFile(path));
  Status status = file->read();
  if (!status.ok()) return status;
  return file;
}

Result<UsersFile::Mark> UsersFile::markOf(int fd) const {
  struct stat info {};
  const int rc = fd < 0 ? ::stat(path_.c_str(), &info) : ::fstat(fd, &info);
  if (rc != 0) return Status::fromErrno(errno, path_);
  constexpr int64_t kSecond = 1'000'000'000;
  return Mark{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec,
              info.st_ctim.tv_sec * kSecond + info.st_ctim.tv_nsec};
}

Status UsersFile::read() {
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return Status::fromErrno(errno, path_);
  // Looked at before it is read: what is written meanwhile will be seen as a further change.
  const auto mark = markOf(fd.get());
  if (!mark.ok()) return mark.status();
  mark_ = *mark;
  std::string text;
  char piece[16 << 10];
  ssize_t size = 0;
  while ((size = ::read(fd.get(), piece, sizeof piece)) != 0) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Status::fromErrno(errno, path_);
    text.append(piece, static_cast<size_t>(size));
    if (text.size() > UserTable::kMaxFileBytes) return Status::error(path_ + ": larger than 64 MiB");
  }
  auto table = UserTable::parse(text, path_);
  if (!table.ok()) return table.status();
  const std::lock_guard<std::mutex> lock(mutex_);
  table_ = std::move(*table);
  generation_.fetch_add(1, std::memory_order_release);
  return {};
}

bool UsersFile::checkIsDue(int64_t now_ns) noexcept {
  int64_t due = next_check_ns_.load(std::memory_order_relaxed);
  return now_ns >= due &&
         next_check_ns_.compare_exchange_strong(due, now_ns + kCheckEveryNs, std::memory_order_relaxed);
}

void UsersFile::check(int64_t now_ns) {
  const std::lock_guard<std::mutex> one(checking_);
  const auto mark = markOf(-1);
  const Mark now = mark.ok() ? *mark : Mark{};
  if (!(now == mark_)) {
    const Status status = read();
    if (status.ok()) {
      LOG_INFO("{}: read anew", path_);
    } else {
      mark_ = now;
      LOG_ERROR("{}; the users stay as they were", status.message());
    }
  }
  // Last: by now the generation is the new one.
  if (now_ns > looked_at_ns_.load(std::memory_order_relaxed))
    looked_at_ns_.store(now_ns, std::memory_order_release);
}

UsersFile::Judgement UsersFile::judge(const std::string& user, const std::string& password) const {
  std::shared_ptr<const UserTable> table;
  uint64_t generation = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    table = table_;
    generation = generation_.load(std::memory_order_relaxed);
  }
  const std::string* own = table->hashOf(user);
  const std::string* hash = own != nullptr ? own : table->substituteFor(user);
  const bool fits = hash != nullptr && passwordFits(password, *hash);
  return {fits && own != nullptr, generation};
}

}  // namespace roost::modules::basic_auth
