#include "db/loop_wire.h"

#if ROOST_MARIADB_CLIENT

#include <utility>

#include "db/loop_core.h"

namespace roost::db {

namespace {

class LoopWire final : public Wire {
 public:
  explicit LoopWire(std::unique_ptr<LoopCore> core) noexcept : core_(std::move(core)) {}
  ~LoopWire() override {
    core_->close();
    event::Loop& loop = core_->loop();
    loop.destroyLater(std::move(core_));
  }
  void setListener(WireListener& listener) noexcept override { core_->setListener(listener); }
  void execute(const Statement& statement) noexcept override { core_->execute(statement); }
  void resume() noexcept override { core_->resume(); }
  bool alive() noexcept override { return core_->alive(); }
  bool inTransaction() const noexcept override { return core_->inTransaction(); }
  uint64_t threadId() const noexcept override { return core_->threadId(); }
  const ServerPlace& server() const noexcept override { return core_->server(); }
  uint64_t prepares() const noexcept override { return core_->prepares(); }

 private:
  std::unique_ptr<LoopCore> core_;
};

}  // namespace

std::unique_ptr<Wire> makeLoopWire(event::Loop& loop, Session session, size_t max_statements) {
  return std::make_unique<LoopWire>(std::make_unique<LoopCore>(loop, std::move(session), max_statements));
}

}  // namespace roost::db

#endif
