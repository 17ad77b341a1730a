#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace roost::event {
class Loop;
}

namespace roost::db {

// A loop's connections are of two groups: those to the primary, and those to replicas.
enum class Group : uint8_t { kPrimary, kReplicas };
inline constexpr uint32_t kGroups = 2;

// What the loops' pools share: the cap on connections and on who waits. Each pair of loop and group is a
// party. Connections belong to their loop and cannot wander, so what wanders is the permission to have one:
// a party that wants one more where none is left asks the others. Who has an idle connection closes it, and
// who is busy closes the next one that comes back, as long as it has two more than who asks; where there are
// fewer permissions than parties, one that has had none for a while gets the next one that comes back, so
// that none starves. Any thread; the lock is taken only where connections are opened and closed and while
// somebody wants one.
class Cap {
 public:
  // A pool, called on its loop's thread.
  class Member {
   public:
    virtual void onGranted(Group group) noexcept = 0;  // what it wanted: it has one more
    virtual void onAsked() noexcept = 0;               // it should give up what it does not use

   protected:
    ~Member() = default;
  };

  Cap(uint32_t max_connections, uint32_t max_waiting, uint32_t loop_count);

  // On the loop's thread. A member that leaves has given everything back.
  void join(uint32_t loop_index, event::Loop& loop, Member& member) noexcept;
  void leave(uint32_t loop_index) noexcept;

  // One permission, where one is left that nobody else waits for.
  bool take(uint32_t loop_index, Group group) noexcept;
  // The same, or else it is wanted: Member::onGranted follows, unless it is taken back.
  bool takeOrWant(uint32_t loop_index, Group group, int64_t now_ns) noexcept;
  void unwant(uint32_t loop_index, Group group) noexcept;
  void give(uint32_t loop_index, Group group) noexcept;
  // The primary has refused one because it has too many, while other loops have some: what is left is of no
  // use but for replicas, and whoever wants one has to get it from the others, until restore(). False: no
  // other loop has any.
  bool primaryFull(uint32_t loop_index) noexcept;
  void restore() noexcept;
  void move(uint32_t loop_index, Group from, Group to) noexcept;  // one that it has

  bool isWanted() const noexcept { return wanting_.load(std::memory_order_relaxed) > 0; }
  // Whether a party with work of its own should give one up, now that a connection has come back.
  bool shouldYield(uint32_t loop_index, Group group, int64_t now_ns) noexcept;

  // A place among those who wait. False: all are taken.
  bool enterQueue() noexcept;
  void leaveQueue() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  struct Party {
    uint32_t held = 0;
    bool wants = false;
    int64_t since_ns = 0;
    uint64_t ticket = 0;
  };
  struct Seat {
    event::Loop* loop = nullptr;
    Member* member = nullptr;
    Party parties[kGroups];
  };

  Party& party(uint32_t loop_index, Group group) noexcept {
    return seats_[loop_index].parties[static_cast<uint32_t>(group)];
  }
  bool takeFree(uint32_t loop_index, Group group) noexcept;
  void setWants(Party& party, bool wants) noexcept;
  bool neediest(uint32_t& loop_index, Group& group) noexcept;
  void grantFree() noexcept;
  void askOthers() noexcept;

  const uint32_t max_waiting_;
  std::atomic<uint32_t> waiting_{0};
  std::atomic<uint32_t> wanting_{0};
  std::mutex lock_;
  uint32_t free_;
  uint32_t useless_ = 0;  // at the primary, for now
  uint64_t last_ticket_ = 0;
  std::vector<Seat> seats_;
};

}  // namespace roost::db
