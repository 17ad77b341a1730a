// A database of scripts: a WireFactory whose connections answer what the test says, when it says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/wire.h"

namespace roost::db::test {

class SimDb;

// One connection; the test finds it in SimDb::wires() while the pool keeps it.
class SimWire final : public Wire {
 public:
  SimWire(SimDb& database, event::Loop& loop, size_t target, uint64_t id);
  ~SimWire() override;

  // ---- the test's side ----
  bool busy() const { return statement_ != nullptr; }
  std::string_view text() const { return statement_->text.view(); }
  const Statement& statement() const { return *statement_; }
  void columns();
  bool row(int64_t value);  // what the pool answered
  void result(Outcome outcome = {});
  void error(uint32_t number, ErrorKind kind = ErrorKind::kStatement);
  void lose() { error(2013, ErrorKind::kLost); }  // and it is gone
  void closeIdle() { listener_->onIdleClosed(); }

  bool is_alive = true;
  bool transaction = false;
  bool paused = false;
  event::Loop& loop;
  const size_t target;
  const uint64_t id;
  uint32_t kills_open = 0;    // asked for and not answered
  bool kill_may_hit = false;  // answered, and nothing has been executed since
  bool kill_lost = false;     // nobody knows when it comes

  // ---- Wire ----
  void setListener(WireListener& listener) noexcept override { listener_ = &listener; }
  void execute(const Statement& statement) noexcept override;
  void resume() noexcept override;
  bool alive() noexcept override { return is_alive; }
  bool inTransaction() const noexcept override { return transaction; }
  uint64_t threadId() const noexcept override { return id; }
  const ServerPlace& server() const noexcept override { return server_; }
  uint64_t prepares() const noexcept override { return executed_; }

 private:
  SimDb& database_;
  WireListener* listener_ = nullptr;
  const Statement* statement_ = nullptr;
  const ServerPlace server_{"server of scripts", ""};
  ResultColumns columns_;
  uint64_t executed_ = 0;
};

// One thread, that of the test.
class SimDb final : public WireFactory {
 public:
  struct Attempt {
    event::Loop* loop;
    size_t target;
    std::unique_ptr<ConnectCall> call;
  };
  struct Kill {
    event::Loop* loop;
    uint64_t thread_id;
    std::unique_ptr<KillCall> call;
  };

  // ---- the test's side ----
  std::vector<Attempt>& attempts() { return attempts_; }
  std::vector<Kill>& kills() { return kills_; }
  const std::vector<SimWire*>& wires() const { return wires_; }
  SimWire* wire(uint64_t id) const;
  size_t inUse() const { return wires_.size() + attempts_.size(); }
  size_t most() const { return most_; }  // of inUse(), ever
  SimWire& accept(size_t index = 0);     // an attempt succeeds
  void refuse(size_t index = 0, uint32_t number = 2002);
  void answerKill(size_t index = 0, bool killed = true);

  // Called when a statement is executed; nullptr: nobody.
  std::function<void(SimWire&)> on_execute;
  std::function<void(const std::string&)> on_wrong;  // what the pool must not do
  bool stopped = false;

  // ---- WireFactory ----
  void connect(event::Loop& loop, size_t target, std::unique_ptr<ConnectCall> call) noexcept override;
  void kill(event::Loop& loop, size_t target, const ServerPlace& server, uint64_t thread_id,
            std::unique_ptr<KillCall> call) noexcept override;
  void stop() noexcept override { stopped = true; }

 private:
  friend class SimWire;
  void wrong(const std::string& what) const {
    if (on_wrong) on_wrong(what);
  }

  std::vector<Attempt> attempts_;
  std::vector<Kill> kills_;
  std::vector<SimWire*> wires_;
  uint64_t last_id_ = 0;
  size_t most_ = 0;
};

}  // namespace roost::db::test
