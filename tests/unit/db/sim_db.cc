#include "unit/db/sim_db.h"

#include <algorithm>

#include "event/loop.h"

namespace roost::db::test {

SimWire::SimWire(SimDb& database, event::Loop& its_loop, size_t its_target, uint64_t its_id)
    : loop(its_loop), target(its_target), id(its_id), database_(database) {
  columns_.resize(1);
  columns_[0].name = "n";
  columns_[0].type = Type::kInt;
  database_.wires_.push_back(this);
}

SimWire::~SimWire() {
  auto& wires = database_.wires_;
  wires.erase(std::find(wires.begin(), wires.end(), this));
}

void SimWire::execute(const Statement& statement) noexcept {
  if (busy()) database_.wrong("executes while another statement runs");
  if (kills_open > 0) database_.wrong("executes while a kill is under way");
  if (kill_may_hit && statement.text.view() != "DO NULL")
    database_.wrong("executes what a late kill may hit");
  if (kill_lost) database_.wrong("executes what a kill that nobody knows of may hit");
  kill_may_hit = false;
  statement_ = &statement;
  paused = false;
  ++executed_;
  if (database_.on_execute) database_.on_execute(*this);
}

void SimWire::columns() {
  listener_->onColumns(columns_);
}

bool SimWire::row(int64_t value) {
  const Cell cell{reinterpret_cast<const char*>(&value), sizeof value};
  SimDb& database = database_;
  const uint64_t own_id = id;
  const bool more = listener_->onRow(Row(&cell, 1));
  if (!more && database.wire(own_id) != nullptr) paused = true;
  return more;
}

void SimWire::result(Outcome outcome) {
  statement_ = nullptr;
  listener_->onResult(outcome);
}

void SimWire::error(uint32_t number, ErrorKind kind) {
  Error error;
  error.kind = kind;
  error.number = number;
  error.message = "as the script says";
  statement_ = nullptr;
  listener_->onError(error);
}

void SimWire::resume() noexcept {
  if (!paused) database_.wrong("resumes what is not paused");
  paused = false;
}

SimWire* SimDb::wire(uint64_t id) const {
  for (SimWire* one : wires_) {
    if (one->id == id) return one;
  }
  return nullptr;
}

void SimDb::connect(event::Loop& loop, size_t target, std::unique_ptr<ConnectCall> call) noexcept {
  attempts_.push_back({&loop, target, std::move(call)});
  most_ = std::max(most_, inUse());
}

SimWire& SimDb::accept(size_t index) {
  Attempt attempt = std::move(attempts_[index]);
  attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(index));
  auto wire = std::make_unique<SimWire>(*this, *attempt.loop, attempt.target, ++last_id_);
  SimWire& made = *wire;
  attempt.call->onConnected(std::move(wire));
  return made;
}

void SimDb::refuse(size_t index, uint32_t number) {
  Attempt attempt = std::move(attempts_[index]);
  attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(index));
  Error error;
  error.kind = ErrorKind::kUnavailable;
  error.number = number;
  error.message = "refused by the script";
  attempt.call->onFailed(error);
}

void SimDb::kill(event::Loop& loop, size_t target, const ServerPlace& server, uint64_t thread_id,
                 std::unique_ptr<KillCall> call) noexcept {
  SimWire* const killed = wire(thread_id);
  if (killed == nullptr || killed->target != target || killed->server().identity != server.identity) {
    wrong("kills what is not there");
  } else {
    ++killed->kills_open;
  }
  kills_.push_back({&loop, thread_id, std::move(call)});
}

void SimDb::answerKill(size_t index, bool killed) {
  Kill kill = std::move(kills_[index]);
  kills_.erase(kills_.begin() + static_cast<std::ptrdiff_t>(index));
  if (SimWire* hit = wire(kill.thread_id); hit != nullptr) {
    --hit->kills_open;
    (killed ? hit->kill_may_hit : hit->kill_lost) = true;
  }
  kill.call->onDone(killed);
}

}  // namespace roost::db::test
