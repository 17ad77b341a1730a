#include "unit/db/pool_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "db/database.h"
#include "support/sim_sys.h"
#include "unit/db/sim_db.h"

namespace roost::db::test {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kSlackMs = 1;

class Schedule;

// A Work that does whatever chance says. Owned by the Schedule, which it may ask to end it from within any
// call.
class Client final : public Work {
 public:
  enum class Stage { kNew, kWaiting, kHolds, kRuns, kOver };

  Client(Schedule& world, uint64_t number, uint32_t of_loop, bool only_reads)
      : id(number), loop(of_loop), reads(only_reads), world_(world) {}
  ~Client() override;

  void onConnection(Link& link) noexcept override;
  void onColumns(Link& link, const ResultColumns& columns) noexcept override;
  bool onRow(Link& link, const Row& row) noexcept override;
  void onResult(Link& link, const Outcome& outcome) noexcept override;
  void onError(Link* link, const Error& error) noexcept override;

  void next() noexcept;  // holds: executes, releases, goes or does nothing yet
  void letGo() noexcept;
  void execute() noexcept;

  const uint64_t id;
  const uint32_t loop;
  const bool reads;  // asks for any server, executes once
  Stage stage = Stage::kNew;
  Link* link = nullptr;
  int64_t since_ns = 0;  // kWaiting
  int64_t lent_ns = 0;
  bool paused = false;
  bool columns_told = false;
  bool must_stay = false;  // keeps what it gets until it is told
  uint32_t executed = 0;
  uint64_t statement = 0;
  uint64_t rows = 0;

 private:
  Schedule& world_;
};

// What a statement is, by the number that it carries.
struct Sent {
  uint64_t client = 0;
  bool reads = false;
  uint32_t times = 0;
  bool begins = false;  // a transaction
  bool commits = false;
};

class Schedule {
 public:
  Schedule(uint64_t seed, ScheduleTally& tally) : tally_(tally), random_(scrambled(seed)) {}
  std::string run();

  uint64_t below(uint64_t count) { return scrambled(++random_) % count; }
  bool oneIn(uint64_t count) { return below(count) == 0; }
  void wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = fmt::format("{} (step {})", what, step_);
  }
  void end(Client& client);
  Statement statementOf(Client& client);
  ScheduleTally& tally() { return tally_; }
  int64_t nowNs(uint32_t loop) const { return loops_[loop]->nowNs(); }
  std::map<Link*, uint64_t>& holders() { return holders_; }
  bool calm() const { return calm_; }
  bool stopped(uint32_t loop) const { return stopped_[loop]; }

 private:
  void open();
  void turn(uint32_t loop) { loops_[loop]->runOnce(0); }
  void turnAll();
  void step();
  Client& ask(bool only_reads, uint32_t loop);
  Client* anyClient();
  SimWire* anyWire();
  void answerWire(SimWire& wire);
  void answerKill(size_t index = 0, bool killed = true);
  void onExecute(SimWire& wire);
  void checkExecution(SimWire& wire, uint64_t number);
  void check();
  void checkForgotten(const Client& client);
  void answerEverything();
  void beCalm(int64_t ms);
  void silence();
  void fillUp();
  void serveAll();
  void closeDown();
  uint64_t clientsIn(Client::Stage stage) const;

  ScheduleTally& tally_;
  uint64_t random_;
  roost::test::SimSys sys_;
  Options options_;
  SimDb* db_ = nullptr;
  std::vector<std::unique_ptr<event::Loop>> loops_;
  std::vector<bool> stopped_;
  std::unique_ptr<PooledDatabase> database_;
  std::vector<std::unique_ptr<Client>> clients_;
  uint64_t killed_ = 0;
  std::map<Link*, uint64_t> holders_;          // and the client that has it
  std::map<uint64_t, Sent> sent_;              // by number
  std::map<uint64_t, uint64_t> transactions_;  // a wire's, and whose it is
  std::map<uint64_t, int64_t> died_;           // wires, and when
  std::map<uint64_t, bool> columns_told_;      // of the wire's statement
  uint64_t last_client_ = 0;
  uint64_t last_statement_ = 0;
  int step_ = 0;
  bool calm_ = false;  // nothing goes wrong by chance
  std::string wrong_;
};

// ---- what a client does ----

Client::~Client() {
  if (link != nullptr) world_.holders().erase(link);
}

void Client::letGo() noexcept {
  Link* const held = std::exchange(link, nullptr);
  world_.holders().erase(held);
  stage = Stage::kOver;
  held->release();
}

void Client::execute() noexcept {
  stage = Stage::kRuns;
  ++executed;
  rows = 0;
  paused = columns_told = false;
  const uint32_t timeout_ms = world_.oneIn(4) ? 50 : 0;
  link->execute(world_.statementOf(*this), timeout_ms);
}

void Client::next() noexcept {
  const uint64_t what = world_.below(10);
  if (must_stay || (what == 0 && !world_.calm())) return;
  if (what == 1 && !world_.calm()) {
    world_.end(*this);
  } else if (executed == 0 || (!reads && what < 6)) {
    execute();
  } else {
    letGo();
  }
}

void Client::onConnection(Link& got) noexcept {
  if (stage != Stage::kWaiting) world_.wrong("a connection for one who does not wait");
  if (!world_.holders().emplace(&got, id).second) world_.wrong("a connection lent to two");
  if (got.inTransaction()) world_.wrong("lent within a transaction");
  link = &got;
  lent_ns = world_.nowNs(loop);
  stage = Stage::kHolds;
  next();
}

void Client::onColumns(Link& got, const ResultColumns& columns) noexcept {
  if (stage != Stage::kRuns || &got != link || columns.empty() || columns_told)
    world_.wrong("columns for nothing");
  columns_told = true;
  if (world_.oneIn(20) && !world_.calm()) world_.end(*this);
}

bool Client::onRow(Link& got, const Row& row) noexcept {
  if (stage != Stage::kRuns || &got != link || paused || !columns_told) world_.wrong("a row for nothing");
  if (static_cast<uint64_t>(readInt(row[0])) != statement) world_.wrong("a row of another statement");
  ++rows;
  ++world_.tally().rows;
  if (world_.calm()) return true;
  if (world_.oneIn(20)) {
    Schedule& world = world_;
    world.end(*this);
    return world.oneIn(2);
  }
  if (world_.oneIn(20)) {
    letGo();
    return world_.oneIn(2);
  }
  paused = world_.oneIn(4);
  return !paused;
}

void Client::onResult(Link& got, const Outcome& outcome) noexcept {
  if (stage != Stage::kRuns || &got != link || paused) world_.wrong("a result for nothing");
  if (outcome.rows != rows) world_.wrong("rows miscounted");
  stage = Stage::kHolds;
  next();
}

void Client::onError(Link* got, const Error& error) noexcept {
  if (error.kind == ErrorKind::kTimeout) ++world_.tally().timeouts;
  if (error.kind == ErrorKind::kQueueTimeout) ++world_.tally().queue_timeouts;
  if (error.kind == ErrorKind::kQueueFull || error.kind == ErrorKind::kUnavailable) ++world_.tally().refused;
  const bool waits = error.kind == ErrorKind::kQueueFull || error.kind == ErrorKind::kQueueTimeout ||
                     error.kind == ErrorKind::kUnavailable;
  if (waits && stage != Stage::kWaiting) world_.wrong("no connection for one who has one");
  if (!waits && error.kind != ErrorKind::kShutdown && stage != Stage::kRuns)
    world_.wrong("an error for nothing");
  if (stage == Stage::kOver) world_.wrong("an error after the end");
  paused = false;
  if (got == nullptr) {
    if (link != nullptr) world_.holders().erase(link);
    link = nullptr;
    stage = Stage::kOver;
    if (world_.oneIn(3)) world_.end(*this);
    return;
  }
  if (got != link || stage != Stage::kRuns) world_.wrong("an error of another link");
  stage = Stage::kHolds;
  next();
}

// ---- the world ----

void Schedule::open() {
  const auto loop_count = static_cast<uint32_t>(1 + below(3));
  options_.max_connections = static_cast<uint32_t>(1 + below(5));
  options_.max_waiting = static_cast<uint32_t>(1 + below(12));
  options_.queue_timeout_ms = oneIn(2) ? 5000 : 200;
  options_.query_timeout_ms = oneIn(2) ? 1000 : 30'000;
  options_.stream_timeout_ms = 60'000;
  options_.slow_reader_ms = oneIn(2) ? 2000 : 50;
  options_.lifetime_s = oneIn(3) ? 1 : 3600;
  options_.idle_timeout_s = oneIn(3) ? 1 : 300;
  options_.replicas.resize(oneIn(2) ? 0 : 1 + below(2));
  auto made = std::make_unique<SimDb>();
  db_ = made.get();
  db_->on_wrong = [this](const std::string& what) { wrong(what); };
  db_->on_execute = [this](SimWire& wire) { onExecute(wire); };
  database_ = std::make_unique<PooledDatabase>(options_, Driver::kLoop, loop_count, std::move(made), nullptr);
  for (uint32_t i = 0; i < loop_count; ++i) {
    loops_.push_back(std::move(event::Loop::create(sys_, i)).value());
    turn(i);  // so that it knows what time it is
    database_->startLoop(*loops_.back());
    stopped_.push_back(false);
  }
}

void Schedule::end(Client& client) {
  ++tally_.given_up;
  const auto at =
      std::find_if(clients_.begin(), clients_.end(), [&](const auto& one) { return one.get() == &client; });
  const std::unique_ptr<Client> gone = std::move(*at);
  clients_.erase(at);
}

Statement Schedule::statementOf(Client& client) {
  const uint64_t number = ++last_statement_;
  client.statement = number;
  ++tally_.statements;
  Sent& sent = sent_[number];
  sent.client = client.id;
  sent.reads = client.reads;
  const Value value = Value::ofUint(number);
  if (client.reads) return {SqlText("SELECT ?"), {value}};
  const uint64_t kind = below(4);
  sent.begins = kind == 0;
  sent.commits = kind == 1;
  return {kind == 0 ? SqlText("BEGIN ?") : kind == 1 ? SqlText("COMMIT ?") : SqlText("INSERT ?"), {value}};
}

void Schedule::onExecute(SimWire& wire) {
  columns_told_[wire.id] = false;
  const std::string_view text = wire.text();
  if (text == "DO NULL") return;
  if (text == "ROLLBACK") {
    ++tally_.rolled_back;
    return;
  }
  checkExecution(wire, wire.statement().values[0].asUint());
}

void Schedule::checkExecution(SimWire& wire, uint64_t number) {
  Sent& sent = sent_[number];
  ++sent.times;
  if (sent.times == 2) ++tally_.retried;
  if (sent.times > (sent.reads ? 2U : 1U)) wrong(fmt::format("statement {} is sent again", number));
  if (!sent.reads && wire.target != 0) wrong("a write goes to a replica");
  if (wire.transaction && transactions_[wire.id] != sent.client) wrong("within somebody else's transaction");
  const auto one = std::find_if(clients_.begin(), clients_.end(),
                                [&](const auto& client) { return client->id == sent.client; });
  if (one == clients_.end() || (*one)->stage != Client::Stage::kRuns) wrong("executed for one who has gone");
}

Client& Schedule::ask(bool only_reads, uint32_t loop) {
  clients_.push_back(std::make_unique<Client>(*this, ++last_client_, loop, only_reads));
  ++tally_.works;
  Client& client = *clients_.back();
  client.stage = Client::Stage::kWaiting;
  client.since_ns = nowNs(loop);
  return client;
}

Client* Schedule::anyClient() {
  return clients_.empty() ? nullptr : clients_[below(clients_.size())].get();
}

SimWire* Schedule::anyWire() {
  return db_->wires().empty() ? nullptr : db_->wires()[below(db_->wires().size())];
}

void Schedule::answerWire(SimWire& wire) {
  if (wire.paused) return;
  const uint64_t id = wire.id;
  const bool own = wire.text() == "DO NULL" || wire.text() == "ROLLBACK";
  const uint64_t number = own ? 0 : wire.statement().values[0].asUint();
  const bool selects = !own && sent_[number].reads;
  const uint64_t how = calm_ ? 9 : below(24);
  if (how == 0) {
    ++tally_.lost;
    wire.lose();
  } else if (how <= 2) {
    wire.error(how == 1 ? 1317 : 1062);
  } else if (selects && !columns_told_[id]) {
    columns_told_[id] = true;
    wire.columns();
  } else if (selects && how < 16 && !calm_) {
    wire.row(static_cast<int64_t>(number));
  } else {
    if (wire.text() == "ROLLBACK") wire.transaction = false;
    if (!own && sent_[number].commits) wire.transaction = false;
    if (!own && sent_[number].begins) {
      wire.transaction = true;
      transactions_[id] = sent_[number].client;
    }
    wire.result();
  }
}

void Schedule::step() {
  ++step_;
  const auto loop = static_cast<uint32_t>(below(loops_.size()));
  turn(loop);
  switch (below(16)) {
    case 0:
    case 1:
    case 2: {
      const bool only_reads = oneIn(2);
      Client& client = ask(only_reads, loop);
      database_->pool(loop).request(client, only_reads ? Role::kReplica : Role::kPrimary);
      break;
    }
    case 3:
      if (Client* client = anyClient(); client != nullptr) {
        turn(client->loop);
        if (oneIn(3) && std::any_of(clients_.begin(), clients_.end(),
                                    [&](const auto& one) { return one.get() == client; }))
          end(*client);
      }
      break;
    case 4:
    case 5:
      if (Client* client = anyClient(); client != nullptr) {
        const uint64_t id = client->id;
        turn(client->loop);
        client = nullptr;
        for (const auto& one : clients_) {
          if (one->id == id) client = one.get();
        }
        if (client == nullptr) break;
        if (client->stage == Client::Stage::kHolds) {
          client->next();
        } else if (client->paused) {
          client->paused = false;
          client->link->resume();
        }
      }
      break;
    case 6:
    case 7:
      if (!db_->attempts().empty()) {
        const size_t index = below(db_->attempts().size());
        if (oneIn(5)) {
          db_->refuse(index, oneIn(2) ? 1040 : 2002);
        } else {
          db_->accept(index);
        }
      }
      break;
    case 8:
      if (!db_->kills().empty()) answerKill(below(db_->kills().size()), !oneIn(8));
      break;
    case 9:
    case 10:
    case 11:
    case 12:
      if (SimWire* wire = anyWire(); wire != nullptr && wire->busy()) answerWire(*wire);
      break;
    case 13:
      if (SimWire* wire = anyWire(); wire != nullptr && !wire->busy() && oneIn(3)) {
        if (oneIn(2)) {
          const uint64_t id = wire->id;
          const uint32_t its_loop = wire->loop.index();
          wire->is_alive = false;
          turn(its_loop);
          died_[id] = nowNs(its_loop);
          sys_.advanceNs(1);
        } else {
          wire->closeIdle();
        }
      }
      break;
    case 14:
      sys_.advanceMs(static_cast<int64_t>(below(30)));
      break;
    default:
      if (oneIn(8)) sys_.advanceMs(static_cast<int64_t>(below(3000)));
      if (oneIn(300) && !stopped_[loop]) {
        stopped_[loop] = true;
        database_->stopLoop(*loops_[loop]);
      }
      break;
  }
  check();
}

void Schedule::check() {
  size_t in_use = 0;
  for (const SimWire* wire : db_->wires()) in_use += !stopped_[wire->loop.index()];
  for (const SimDb::Attempt& attempt : db_->attempts()) in_use += !stopped_[attempt.loop->index()];
  if (in_use > options_.max_connections) wrong("more connections than the cap allows");
  for (const auto& client : clients_) checkForgotten(*client);
}

void Schedule::checkForgotten(const Client& client) {
  if (client.stage != Client::Stage::kWaiting) return;
  if (stopped_[client.loop]) wrong("one who waits is forgotten at the end");
  const int64_t waited_ms = (nowNs(client.loop) - client.since_ns) / kNsPerMs;
  if (waited_ms > options_.queue_timeout_ms + kSlackMs) wrong("one who waits is forgotten");
}

void Schedule::turnAll() {
  for (int round = 0; round < 4; ++round) {
    for (uint32_t i = 0; i < loops_.size(); ++i) turn(i);
  }
}

void Schedule::answerKill(size_t index, bool killed) {
  if (killed && !stopped_[db_->kills()[index].loop->index()]) ++killed_;
  db_->answerKill(index, killed);
}

// All servers answer, and well.
void Schedule::answerEverything() {
  while (!db_->attempts().empty()) db_->accept();
  while (!db_->kills().empty()) answerKill();
  for (bool again = true; again && wrong_.empty();) {
    again = false;
    for (size_t i = 0; i < db_->wires().size(); ++i) {
      SimWire& wire = *db_->wires()[i];
      if (!wire.busy() || wire.paused) continue;
      answerWire(wire);
      again = true;
      break;
    }
  }
}

void Schedule::beCalm(int64_t ms) {
  for (int64_t passed = 0; passed < ms && wrong_.empty(); passed += 10) {
    sys_.advanceMs(10);
    turnAll();
    answerEverything();
    turnAll();
    check();
  }
}

uint64_t Schedule::clientsIn(Client::Stage stage) const {
  return static_cast<uint64_t>(
      std::count_if(clients_.begin(), clients_.end(), [&](const auto& one) { return one->stage == stage; }));
}

// No server says anything any more: whoever waits for one is told in bounded time, whoever holds one goes,
// and no connection stays.
void Schedule::silence() {
  calm_ = true;
  for (const auto& client : clients_) {
    if (client->stage == Client::Stage::kHolds) client->letGo();
  }
  for (int64_t s = 0; s < 70 && wrong_.empty(); ++s) {
    sys_.advanceMs(1000);
    turnAll();
    check();
  }
  if (clientsIn(Client::Stage::kRuns) > 0) wrong("a statement without an end");
  if (clientsIn(Client::Stage::kWaiting) > 0) wrong("one who waits without an end");
  for (const SimWire* wire : db_->wires()) {
    if (wire->busy()) wrong("a connection that does not answer stays");
  }
  if (database_->numbers().in_use != 0) wrong("a connection is counted as in use");
}

// The cap can be used in full, whoever asks, and nobody waits beside an idle connection.
void Schedule::fillUp() {
  calm_ = true;
  beCalm(34'000);
  for (const auto& client : clients_) {
    if (client->stage == Client::Stage::kHolds) client->letGo();
  }
  clients_.clear();
  beCalm(options_.idle_timeout_s == 1 ? 100 : 10);
  const uint32_t count =
      std::min(options_.max_connections + 1, options_.max_connections + options_.max_waiting);
  for (uint32_t i = 0; i < count; ++i) {
    const auto loop = static_cast<uint32_t>(below(loops_.size()));
    if (stopped_[loop]) continue;
    turn(loop);
    Client& client = ask(false, loop);
    client.must_stay = true;
    database_->pool(loop).request(client, Role::kPrimary);
    beCalm(30);
  }
  const uint64_t holding = clientsIn(Client::Stage::kHolds), waiting = clientsIn(Client::Stage::kWaiting);
  if (waiting > 0 && holding < options_.max_connections)
    wrong(fmt::format("{} wait while {} of {} are held", waiting, holding, options_.max_connections));
  clients_.clear();
}

// While nothing goes wrong, everybody is served.
void Schedule::serveAll() {
  options_.queue_timeout_ms = std::max(options_.queue_timeout_ms, 200U);
  beCalm(100);
  const uint64_t told = tally_.queue_timeouts + tally_.refused;
  for (uint32_t i = 0; i < options_.max_waiting; ++i) {
    const auto loop = static_cast<uint32_t>(below(loops_.size()));
    if (stopped_[loop]) continue;
    turn(loop);
    const bool only_reads = oneIn(2);
    Client& client = ask(only_reads, loop);
    database_->pool(loop).request(client, only_reads ? Role::kReplica : Role::kPrimary);
  }
  beCalm(180);
  if (tally_.queue_timeouts + tally_.refused != told) wrong("not served though nothing is wrong");
  if (clientsIn(Client::Stage::kWaiting) > 0) wrong("one who waits is not served");
}

void Schedule::closeDown() {
  for (uint32_t i = 0; i < loops_.size(); ++i) {
    if (!stopped_[i]) database_->stopLoop(*loops_[i]);
    stopped_[i] = true;
  }
  check();
  if (clientsIn(Client::Stage::kRuns) + clientsIn(Client::Stage::kHolds) > 0)
    wrong("one is not told the end");
  if (!db_->wires().empty()) wrong("a connection is open after the end");
  while (!db_->attempts().empty()) db_->accept();
  while (!db_->kills().empty()) answerKill();
  if (!db_->wires().empty()) wrong("a connection is open that came after the end");
  turnAll();
  const Numbers numbers = database_->numbers();
  if (numbers.connections + numbers.in_use + numbers.waiting != 0)
    wrong("something is counted after the end");
  if (numbers.killed != killed_) wrong("killed is not what the servers said");
  tally_.killed += numbers.killed;
  clients_.clear();
  if (!holders_.empty()) wrong("somebody has a connection after the end");
  loops_.clear();
  database_.reset();
}

std::string Schedule::run() {
  open();
  const uint64_t steps = 50 + below(400);
  for (uint64_t i = 0; i < steps && wrong_.empty(); ++i) step();
  switch (below(4)) {
    case 0:
      if (wrong_.empty()) silence();
      break;
    case 1:
    case 2:
      if (wrong_.empty()) fillUp();
      if (wrong_.empty()) serveAll();
      break;
    default:
      break;
  }
  closeDown();
  return wrong_;
}

}  // namespace

std::string runSchedule(uint64_t seed, ScheduleTally& tally) {
  return Schedule(seed, tally).run();
}

}  // namespace roost::db::test
