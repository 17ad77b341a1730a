#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "db/cap.h"
#include "db/wire.h"

namespace roost::db {

class LoopPool;

// One connection of a loop's pool, or the place for one: who has it, what runs on it, and what has to happen
// before it may be lent again. Owned by its LoopPool, which keeps it for the next connection when this one
// has closed; loop thread only.
//
// A statement that is to end early is killed. Since a kill may come late, the connection waits for the kill's
// own answer too and then executes a statement that does nothing, which such a kill would hit, before it is
// used for anything else. What is still open is rolled back. All of it has kSettleNs; then, and where nobody
// knows what became of the kill, the connection is closed instead.
class Slot final : public Link, public ListHook, private WireListener {
 public:
  enum class State : uint8_t {
    kFree,        // a place without a connection
    kConnecting,  // for whoever waits
    kIdle,
    kLent,      // a Work has it
    kSettling,  // nobody has it, but it cannot be used yet
  };
  static constexpr int64_t kNever = INT64_MAX;

  explicit Slot(LoopPool& pool) noexcept : pool_(pool) {}
  ~Slot() = default;

  State state() const noexcept { return state_; }
  size_t target() const noexcept { return target_; }
  Group group() const noexcept { return target_ == 0 ? Group::kPrimary : Group::kReplicas; }
  uint32_t generation() const noexcept { return generation_; }

  void beginConnect(size_t target) noexcept;  // kFree, or a lent one whose connection has died
  // Whether a Work has it whose statement goes on when there is a connection.
  bool revives() const noexcept { return state_ == State::kLent && connecting_; }
  void opened(std::unique_ptr<Wire> wire, int64_t expires_ns) noexcept;
  void setIdle(int64_t now_ns) noexcept;
  bool usable(int64_t now_ns) noexcept;  // an idle one: it seems to live
  bool worn(int64_t now_ns) const noexcept { return touched_ || now_ns >= expires_ns_; }
  void lend(Work& work, bool any_server) noexcept;
  void goOn() noexcept;                 // revives(), and opened() or takeWire(): executes once more
  void takeWire(Slot& other) noexcept;  // an idle one's, which is then without
  void failRevival() noexcept;          // revives(), and nothing came of it
  void abandon() noexcept;              // the Work gives up
  void onKillDone(uint32_t generation, bool killed) noexcept;
  // Does what is due, and says when something will be.
  int64_t check(int64_t now_ns) noexcept;
  // Drops the connection; the place is free. The pool's books are the caller's business.
  void drop() noexcept;
  // Ends everything; whoever has it is told why.
  void shutDown() noexcept;

  // Link
  void execute(Statement statement, uint32_t timeout_ms) noexcept override;
  void resume() noexcept override;
  bool inTransaction() const noexcept override { return wire_ != nullptr && wire_->inTransaction(); }
  std::string_view lastText() const noexcept override { return statement_.text.view(); }
  void hurry() noexcept override;
  void touched() noexcept override { touched_ = true; }
  void release() noexcept override;

 private:
  enum class Doing : uint8_t { kNothing, kWorks, kProbe, kRollback };
  enum class Kill : uint8_t { kNone, kAsked, kDone, kFailed };
  enum class Ended : uint8_t { kNot, kResult, kError };  // what waits to be told until the kill is over

  // How long a connection may take until it can be used again.
  static constexpr int64_t kSettleNs = 5'000'000'000;

  void onColumns(const ResultColumns& columns) noexcept override;
  bool onRow(const Row& row) noexcept override;
  void onResult(const Outcome& outcome) noexcept override;
  void onError(const Error& error) noexcept override;
  void onIdleClosed() noexcept override;

  void setState(State state) noexcept;
  void dropWire() noexcept;
  void countPrepares() noexcept;
  void detachWork() noexcept;
  void runStatement() noexcept;
  bool endPause() noexcept;
  void run(Doing what, const Statement& statement) noexcept;
  void ended() noexcept;
  void settle() noexcept;
  void settled() noexcept;
  void dropUnsettled() noexcept;
  void clean() noexcept;
  void tell() noexcept;
  void lose(const Error& error) noexcept;
  void failWork(const Error& error) noexcept;
  bool mayRetry() const noexcept;
  void kill() noexcept;
  void timeOut(int64_t now_ns) noexcept;
  int64_t statementDeadline() const noexcept;
  int64_t leakAtNs() const noexcept;
  int64_t slowAtNs() const noexcept;
  int64_t checkIdle(int64_t now_ns) noexcept;
  int64_t checkLent(int64_t now_ns) noexcept;
  int64_t checkSettling(int64_t now_ns) noexcept;
  int64_t killAgain(int64_t now_ns) noexcept;
  void reportLeak(int64_t now_ns) noexcept;
  void reportSlow(int64_t took_ns) const noexcept;

  LoopPool& pool_;
  std::unique_ptr<Wire> wire_;
  Work* work_ = nullptr;
  State state_ = State::kFree;
  Doing doing_ = Doing::kNothing;
  Kill kill_ = Kill::kNone;
  Ended ended_ = Ended::kNot;
  bool any_server_ = false;
  bool connecting_ = false;
  bool retried_ = false;
  bool told_columns_ = false;
  bool paused_ = false;
  bool in_callback_ = false;
  bool timed_out_ = false;
  bool reader_cut_off_ = false;  // it ends because nobody takes its rows
  bool touched_ = false;
  bool leak_told_ = false;
  uint32_t generation_ = 0;  // of the connection, for answers that come late
  uint64_t lease_ = 0;       // of the Work's having it
  size_t target_ = 0;
  uint32_t executed_ = 0;  // by the Work
  Statement statement_;
  const ResultColumns* columns_ = nullptr;
  Outcome outcome_;
  Error error_;
  uint64_t rows_ = 0;
  uint64_t prepares_seen_ = 0;
  int64_t expires_ns_ = kNever;
  int64_t idle_since_ns_ = 0;
  int64_t lent_ns_ = 0;
  int64_t timeout_ns_ = 0;
  int64_t started_ns_ = 0;
  int64_t progress_ns_ = 0;
  int64_t paused_at_ns_ = 0;
  int64_t paused_ns_ = 0;  // by this statement, before that
  int64_t kill_at_ns_ = kNever;
  int64_t tell_by_ns_ = kNever;  // the Work of a statement that was killed for its time
  int64_t settle_by_ns_ = kNever;
};

}  // namespace roost::db
