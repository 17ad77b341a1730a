#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "event/task_pool.h"
#include "modules/basic_auth/credentials.h"
#include "modules/basic_auth/hash_queue.h"
#include "modules/basic_auth/outcome_cache.h"
#include "modules/basic_auth/password_hash.h"
#include "modules/basic_auth/users_file.h"

namespace roost::modules::basic_auth {
namespace {

// Of "tpyrcb", at the least cost.
const std::string kBcrypt = "$2y$04$qBEU8NxqnQ.vywfMk5LyC.QlzN5FZUAQXUw9isVjSu9sTJgRtgY5O";
const std::string kSha256 =
    "$5$rounds=1000$saltsalt$.9/aAFJGmIx36sGUGs2q7qxb1wNLa9Atp.ducIDgOY6";  // "652ahs"

// A file with this content, gone with the object.
class TempFile {
 public:
  explicit TempFile(std::string_view content) {
    ::close(::mkstemp(path_));
    write(content);
  }
  ~TempFile() { ::unlink(path_); }
  void write(std::string_view content) const { std::ofstream(path_, std::ios::trunc) << content; }
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/roost-users-XXXXXX";
};

TEST_CASE("basic_auth: credentials", "[basic_auth]") {
  const auto read = [](const std::string& value) {
    SecretRoom room;
    Credentials credentials;
    if (!parseBasic(value, room, credentials)) return std::string("none");
    return std::string(credentials.user) + "|" + std::string(credentials.password);
  };
  CHECK(read("Basic YTpi") == "a|b");
  CHECK(read("bAsIc   YTpi") == "a|b");
  CHECK(read("Basic YTpiOmM=") == "a|b:c");
  CHECK(read("Basic Og==") == "|");
  for (const char* bad : {"", "Basic", "Basic ", "BasicYTpi", "Basic YTp", "Basic YTpi ", "Basic YTpi=",
                          "Basic YWI=", "Basic YTo\x01", "Basic Oh==", "Basic YTpiOm==", "Basic =TpI",
                          "Basic YT=i", "Digest YTpi", "Basic YTpiCg==", "Basic ===="}) {
    INFO(bad);
    CHECK(read(bad) == "none");
  }
  std::string longest;
  for (size_t i = 0; i < 169; ++i) longest += "YWFh";
  CHECK(read("Basic OmFh" + longest) == "|" + std::string(509, 'a'));
  CHECK(read("Basic OmFh" + longest + "YWE=") == "|" + std::string(511, 'a'));
  CHECK(read("Basic OmFh" + longest + "YWFh") == "none");
}

TEST_CASE("basic_auth: passwords and their hashes", "[basic_auth]") {
  for (const auto& [hash, password] : {std::pair(kBcrypt, "tpyrcb"), std::pair(kSha256, "652ahs")}) {
    CHECK(checkPasswordHash(hash).ok());
    CHECK(passwordFits(password, hash));
    CHECK_FALSE(passwordFits("", hash));
    CHECK_FALSE(passwordFits(std::string(password) + "x", hash));
  }
  for (const char* bad :
       {"", "plain", "$apr1$a$b", "$1$a$b", "{SHA}x", "$2x$04$x", "$6$a$b", "$y$j75$a$b", "*0", "!"}) {
    INFO(bad);
    const Status status = checkPasswordHash(bad);
    REQUIRE_FALSE(status.ok());
    CHECK(status.message().find("htpasswd -B") != std::string::npos);
  }
}

TEST_CASE("basic_auth: users and their substitutes", "[basic_auth]") {
  const auto table = UserTable::parse("a:" + kBcrypt + "\n#\n\nb:" + kSha256 + ":a comment\r\n", "users");
  REQUIRE(table.ok());
  CHECK((*table)->size() == 2);
  REQUIRE((*table)->hashOf("b") != nullptr);
  CHECK(*(*table)->hashOf("b") == kSha256);
  CHECK((*table)->hashOf("c") == nullptr);
  std::set<std::string> substitutes;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "nobody" + std::to_string(i);
    REQUIRE((*table)->substituteFor(name) != nullptr);
    CHECK((*table)->substituteFor(name) == (*table)->substituteFor(name));
    substitutes.insert(*(*table)->substituteFor(name));
  }
  CHECK(substitutes == std::set<std::string>{kBcrypt, kSha256});
  const auto nobody = UserTable::parse("# nobody\n", "users");
  REQUIRE(nobody.ok());
  CHECK((*nobody)->substituteFor("a") == nullptr);
}

TEST_CASE("basic_auth: the substitute's password does not let an unknown user in", "[basic_auth]") {
  const TempFile file("a:" + kBcrypt + "\n");
  auto users = UsersFile::open(file.path());
  REQUIRE(users.ok());
  CHECK((*users)->judge("a", "tpyrcb").fits);
  CHECK_FALSE((*users)->judge("b", "tpyrcb").fits);
}

TEST_CASE("basic_auth: a file is looked at once a second and read when it has changed", "[basic_auth]") {
  const TempFile file("a:" + kBcrypt + "\n");
  auto users = UsersFile::open(file.path());
  REQUIRE(users.ok());
  UsersFile& open = **users;
  const uint64_t first = open.generation();
  CHECK(open.checkIsDue(5'000'000'000));
  CHECK_FALSE(open.checkIsDue(5'999'999'999));
  CHECK(open.checkIsDue(6'000'000'000));
  CHECK_FALSE(open.isKnown(6'000'000'000));
  open.check(6'000'000'000);
  CHECK(open.isKnown(7'999'999'999));
  CHECK_FALSE(open.isKnown(8'000'000'000));
  CHECK(open.generation() == first);
  file.write("bb:" + kBcrypt + "\n");
  open.check(6'000'000'000);
  CHECK(open.generation() == first + 1);
  CHECK(open.judge("bb", "tpyrcb").fits);
  CHECK(open.judge("bb", "tpyrcb").generation == first + 1);
  CHECK_FALSE(open.judge("a", "tpyrcb").fits);
  file.write("nonsense\n");
  open.check(6'000'000'000);
  CHECK(open.generation() == first + 1);
  CHECK(open.judge("bb", "tpyrcb").fits);
}

TEST_CASE("basic_auth: outcomes count for a time, failures shorter", "[basic_auth]") {
  using Outcome = OutcomeCache::Outcome;
  constexpr int64_t kSecond = 1'000'000'000;
  OutcomeCache cache;
  CHECK(cache.find({1, 2}, 1, 0, kSecond) == Outcome::kUnknown);
  cache.put({1, 2}, 1, 0, true);
  cache.put({3, 4}, 1, 0, false);
  CHECK(cache.find({1, 2}, 1, 99 * kSecond, 100 * kSecond) == Outcome::kFits);
  CHECK(cache.find({1, 2}, 1, 100 * kSecond, 100 * kSecond) == Outcome::kUnknown);
  CHECK(cache.find({1, 2}, 2, 0, 100 * kSecond) == Outcome::kUnknown);
  CHECK(cache.find({1, 3}, 1, 0, 100 * kSecond) == Outcome::kUnknown);
  CHECK(cache.find({3, 4}, 1, 2 * kSecond, 100 * kSecond) == Outcome::kFails);
  CHECK(cache.find({3, 4}, 1, 3 * kSecond, 100 * kSecond) == Outcome::kUnknown);
  CHECK(cache.find({1, 2}, 1, 0, 0) == Outcome::kUnknown);
  cache.put({1, 2}, 2, 0, false);  // in its own place
  CHECK(cache.find({1, 2}, 2, 0, kSecond) == Outcome::kFails);
}

TEST_CASE("basic_auth: failures do not drive successes out", "[basic_auth]") {
  using Outcome = OutcomeCache::Outcome;
  OutcomeCache cache;
  for (uint64_t i = 0; i < OutcomeCache::kWays; ++i) cache.put({7, i}, 1, static_cast<int64_t>(i), true);
  for (uint64_t i = 100; i < 200; ++i) cache.put({7, i}, 1, 500, false);
  for (uint64_t i = 0; i < OutcomeCache::kWays; ++i)
    CHECK(cache.find({7, i}, 1, 500, 1000) == Outcome::kFits);
  cache.put({7, 99}, 1, 600, true);
  CHECK(cache.find({7, 0}, 1, 600, 1000) == Outcome::kUnknown);  // the oldest made way
  CHECK(cache.find({7, 99}, 1, 600, 1000) == Outcome::kFits);
}

// Jobs that wait until they are let go.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int running = 0;
  int most = 0;
  int done = 0;
  void pass() {
    std::unique_lock<std::mutex> lock(mutex);
    most = std::max(most, ++running);
    changed.notify_all();
    changed.wait(lock, [this] { return open; });
    --running;
    ++done;
    changed.notify_all();
  }
};

TEST_CASE("basic_auth: the queue runs so many at once and holds so many", "[basic_auth]") {
  Gate gate;
  event::TaskPool pool(4, 4096);
  HashQueue queue(2);
  int taken = 0;
  uint64_t client = 0;
  const auto submit = [&] {
    std::unique_ptr<event::Task> job = event::makeTask([&gate] { gate.pass(); });
    const bool took = queue.submit(pool, job, client++);
    CHECK(took == (job == nullptr));
    return took;
  };
  for (int i = 0; i < 2; ++i) taken += submit() ? 1 : 0;
  {
    std::unique_lock<std::mutex> lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.running == 2; });
  }
  while (submit()) ++taken;
  CHECK(taken == 2 + static_cast<int>(HashQueue::kMaxWaiting));
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.open = true;
  gate.changed.notify_all();
  gate.changed.wait(lock, [&] { return gate.done == taken; });
  CHECK(gate.most == 2);
  lock.unlock();
  pool.stop();
}

TEST_CASE("basic_auth: what waits when the pool has no room is dropped and not run", "[basic_auth]") {
  Gate gate;
  std::atomic<int> destroyed{0};
  struct Counted {
    explicit Counted(std::atomic<int>& count) : count_(&count) {}
    Counted(Counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    ~Counted() {
      if (count_ != nullptr) ++*count_;
    }
    std::atomic<int>* count_;
  };
  event::TaskPool pool(1, 4);
  HashQueue queue(1);
  for (int i = 0; i < 5; ++i) {
    auto job = event::makeTask([&gate, counted = Counted(destroyed)] { gate.pass(); });
    REQUIRE(queue.submit(pool, job, 1));
  }
  {
    std::unique_lock<std::mutex> lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.running == 1; });
    std::unique_ptr<event::Task> filler = event::makeTask([] {});
    while (pool.submit(filler)) filler = event::makeTask([] {});
    gate.open = true;
    gate.changed.notify_all();
  }
  pool.stop();
  CHECK(gate.done == 1);
  CHECK(destroyed == 5);
}

// A pool whose one thread stands still until let go.
struct HeldPool {
  Gate gate;
  event::TaskPool pool{1, 4096};
  HashQueue queue{1};
  std::mutex mutex;
  std::condition_variable ran;
  std::vector<int> order;  // in which jobs were run
  HeldPool() {
    std::unique_ptr<event::Task> first = event::makeTask([this] { gate.pass(); });
    REQUIRE(queue.submit(pool, first, 0));
    std::unique_lock<std::mutex> lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.running == 1; });
  }
  bool submit(uint64_t client, int job) {
    std::unique_ptr<event::Task> task = event::makeTask([this, job] {
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(job);
      ran.notify_all();
    });
    return queue.submit(pool, task, client);
  }
  void run(size_t jobs) {
    {
      const std::lock_guard<std::mutex> lock(gate.mutex);
      gate.open = true;
      gate.changed.notify_all();
    }
    std::unique_lock<std::mutex> lock(mutex);
    ran.wait(lock, [&] { return order.size() == jobs; });
    lock.unlock();
    pool.stop();
  }
};

TEST_CASE("basic_auth: a flood of wrong passwords does not delay another client's right one",
          "[basic_auth]") {
  HeldPool held;
  int flood = 0;
  while (held.submit(7, flood)) ++flood;
  CHECK(flood == static_cast<int>(HashQueue::kMaxOfOne));
  CHECK(held.submit(8, 1000));
  CHECK(held.submit(9, 1001));
  CHECK_FALSE(held.submit(7, flood));
  held.run(HashQueue::kMaxOfOne + 2);
  CHECK(held.order[0] == 0);
  CHECK(held.order[1] == 1000);
  CHECK(held.order[2] == 1001);
  CHECK(held.order[3] == 1);  // its own come in their order
}

TEST_CASE("basic_auth: where all is full, a newcomer comes in place of who has most", "[basic_auth]") {
  HeldPool held;
  int taken = 0;
  for (uint64_t client = 1; client <= HashQueue::kMaxWaiting / HashQueue::kMaxOfOne; ++client) {
    for (size_t i = 0; i < HashQueue::kMaxOfOne; ++i) taken += held.submit(client, taken) ? 1 : 0;
  }
  CHECK(taken == static_cast<int>(HashQueue::kMaxWaiting));
  CHECK(held.submit(100, 5000));
  CHECK_FALSE(held.submit(100, 5001));  // has one now
  held.run(HashQueue::kMaxWaiting);
  CHECK(std::find(held.order.begin(), held.order.end(), 5000) != held.order.end());
}

}  // namespace
}  // namespace roost::modules::basic_auth
