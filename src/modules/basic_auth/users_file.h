#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/sip_hash.h"
#include "base/status.h"

namespace roost::modules::basic_auth {

// Who may log in: a file of "name:hash" lines as htpasswd writes it. Immutable.
class UserTable {
 public:
  static constexpr size_t kMaxFileBytes = 64 << 20;
  static constexpr size_t kMaxNameBytes = 255;

  // Empty lines, and those that begin with '#', say nothing; what follows a second colon neither. Errors:
  // "name:line: what is wrong": no colon, an empty or overlong name, one that comes twice, a hash of no use.
  static Result<std::shared_ptr<const UserTable>> parse(std::string_view text, const std::string& name);

  size_t size() const noexcept { return hashes_.size(); }
  // nullptr where there is no such user.
  const std::string* hashOf(const std::string& user) const noexcept;
  // The hash of somebody, always the same for a name, so that refusing an unknown user takes as long as
  // refusing a known one. nullptr where there is nobody at all.
  const std::string* substituteFor(std::string_view user) const noexcept;

 private:
  std::unordered_map<std::string, std::string> hashes_;
  std::vector<const std::string*> all_;  // hashes, in the file's order
  const SipKey key_ = SipKey::random();
};

// The file behind it, which may change: a task thread looks at it at most once a second while somebody asks.
// Shared by a filter and the work it has under way; any thread.
class UsersFile {
 public:
  static Result<std::shared_ptr<UsersFile>> open(const std::string& path);

  // A number of its own for each file that was opened.
  uint64_t id() const noexcept { return id_; }
  // Changes with what is in the file. A loop's one look per request.
  uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // True for one caller in a second, who then sees to check().
  bool checkIsDue(int64_t now_ns) noexcept;

  // Whether generation() tells what was in the file within the last kKnownNs. Where nobody has asked for a
  // while, nobody has looked.
  bool isKnown(int64_t now_ns) const noexcept {
    return now_ns - looked_at_ns_.load(std::memory_order_acquire) < kKnownNs;
  }

  // Task threads. check(): reads the file anew if it has changed; where that fails the users stay as they
  // were, and the log says so once. `now_ns`: the loop's clock, not later than the call.
  void check(int64_t now_ns);
  struct Judgement {
    bool fits;
    uint64_t generation;  // that it was judged by
  };
  Judgement judge(const std::string& user, const std::string& password) const;

 private:
  struct Mark {  // of a file's state
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = -1;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    bool operator==(const Mark& other) const noexcept;
  };
  explicit UsersFile(std::string path);
  Status read();
  Result<Mark> markOf(int fd) const;

  static constexpr int64_t kCheckEveryNs = 1'000'000'000;
  static constexpr int64_t kKnownNs = 2'000'000'000;

  const std::string path_;
  const uint64_t id_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int64_t> next_check_ns_{0};
  std::atomic<int64_t> looked_at_ns_{-kKnownNs};
  std::mutex checking_;       // one check at a time
  Mark mark_;                 // of what was last looked at; under checking_
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<const UserTable> table_;
};

}  // namespace roost::modules::basic_auth
