#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/database.h"
#include "support/sim_sys.h"
#include "unit/db/sim_db.h"
#include "unit/log/log_test_support.h"

using namespace roost;
using namespace roost::db;
using namespace roost::db::test;

namespace {

Statement reading(int64_t value) {
  return {SqlText("SELECT n FROM t WHERE id = ?"), {Value::ofInt(value)}};
}
Statement writing(int64_t value) {
  return {SqlText("INSERT INTO t VALUES (?)"), {Value::ofInt(value)}};
}

// Asks and writes down what it is told. The test decides what it does, through `link`.
class Asker final : public Work {
 public:
  void onConnection(Link& got) noexcept override {
    link = &got;
    notes += "connection;";
    if (first) got.execute(*first);
  }
  void onColumns(Link&, const ResultColumns&) noexcept override { notes += "columns;"; }
  bool onRow(Link&, const Row& row) noexcept override {
    if (on_row) return on_row();
    notes += "row " + std::to_string(readInt(row[0])) + ";";
    return rows_wanted-- > 1;
  }
  void onResult(Link& got, const Outcome& outcome) noexcept override {
    notes += "result " + std::to_string(outcome.rows) + ";";
    if (releases) got.release();
  }
  void onError(Link* got, const Error& error) noexcept override {
    notes += std::string(got != nullptr ? "error with link " : "error ") +
             std::to_string(static_cast<int>(error.kind)) + ";";
    last = error;
    link = got;
    if (releases && got != nullptr) got->release();
  }
  std::string take() { return std::exchange(notes, ""); }

  std::unique_ptr<Statement> first;
  std::function<bool()> on_row;
  bool releases = true;
  int rows_wanted = 1'000'000;
  Link* link = nullptr;
  std::string notes;
  Error last;
};

std::unique_ptr<Asker> reader(int64_t value = 1) {
  auto asker = std::make_unique<Asker>();
  asker->first = std::make_unique<Statement>(reading(value));
  return asker;
}
std::unique_ptr<Asker> writer(int64_t value = 1) {
  auto asker = std::make_unique<Asker>();
  asker->first = std::make_unique<Statement>(writing(value));
  return asker;
}
std::unique_ptr<Asker> holder() {
  auto asker = std::make_unique<Asker>();
  asker->releases = false;
  return asker;
}

Options small() {
  Options options;
  options.max_connections = 2;
  options.max_waiting = 3;
  return options;
}

std::string errorNote(ErrorKind kind, bool with_link = false) {
  return std::string(with_link ? "error with link " : "error ") + std::to_string(static_cast<int>(kind)) +
         ";";
}

// Pools of some loops on a simulated clock.
class Fixture {
 public:
  explicit Fixture(const Options& options = small(), uint32_t loop_count = 1) {
    auto made = std::make_unique<SimDb>();
    db = made.get();
    db->on_wrong = [](const std::string& what) { FAIL_CHECK(what); };
    database = std::make_unique<PooledDatabase>(options, Driver::kLoop, loop_count, std::move(made), nullptr);
    for (uint32_t i = 0; i < loop_count; ++i) {
      loops.push_back(std::move(event::Loop::create(sys, i)).value());
      database->startLoop(*loops.back());
    }
  }
  ~Fixture() { stop(); }

  void stop() {
    for (const auto& loop : loops) database->stopLoop(*loop);
    settle();
    loops.clear();
  }
  void settle() {
    for (int round = 0; round < 20; ++round) {
      for (const auto& loop : loops) loop->runOnce(0);
    }
  }
  void pass(int64_t ms) {
    sys.advanceMs(ms);
    settle();
  }
  Pool& pool(uint32_t index = 0) { return database->pool(index); }
  void ask(Work& work, uint32_t index = 0) { pool(index).request(work); }
  void askAny(Work& work, uint32_t index = 0) { pool(index).request(work, Role::kReplica); }
  SimWire& wire(size_t index = 0) { return *db->wires().at(index); }
  // Asks, and the connection that is opened for it comes.
  SimWire& open(Work& work) {
    ask(work);
    REQUIRE(db->attempts().size() == 1);
    return db->accept();
  }

  SimDb* db;
  roost::test::SimSys sys;
  std::vector<std::unique_ptr<event::Loop>> loops;
  std::unique_ptr<PooledDatabase> database;
};

}  // namespace

// Up to the first row, which is all that it wants for now.
SimWire& openPaused(Fixture& fixture, Asker& asker) {
  asker.rows_wanted = 1;
  SimWire& wire = fixture.open(asker);
  wire.columns();
  CHECK_FALSE(wire.row(1));
  return wire;
}

TEST_CASE("a connection is opened when somebody needs it and used again", "[db]") {
  Fixture fixture;
  CHECK(fixture.db->attempts().empty());
  auto first = reader(7);
  SimWire& wire = fixture.open(*first);
  CHECK(first->take() == "connection;");
  CHECK(wire.text() == "SELECT n FROM t WHERE id = ?");
  wire.columns();
  CHECK(first->take().empty());
  CHECK(wire.row(5));
  CHECK(wire.row(6));
  CHECK(first->take() == "columns;row 5;row 6;");
  wire.result();
  CHECK(first->take() == "result 2;");
  auto second = writer();
  fixture.ask(*second);
  CHECK(second->take() == "connection;");
  wire.result();
  CHECK(second->take() == "result 0;");
  const Numbers numbers = fixture.database->numbers();
  CHECK(numbers.connects == 1);
  CHECK(numbers.statements == 2);
  CHECK(numbers.prepared == 2);
  CHECK(numbers.connections == 1);
  CHECK(numbers.in_use == 0);
}

TEST_CASE("the columns of an empty result are told", "[db]") {
  Fixture fixture;
  auto asker = reader();
  SimWire& wire = fixture.open(*asker);
  wire.columns();
  wire.result();
  CHECK(asker->take() == "connection;columns;result 0;");
}

TEST_CASE("a dead connection is seen before it is lent", "[db]") {
  Fixture fixture;
  auto first = reader();
  fixture.open(*first).result();
  fixture.wire().is_alive = false;
  fixture.pass(1);
  auto second = reader();
  fixture.ask(*second);
  CHECK(second->take().empty());
  CHECK(fixture.db->wires().empty());
  fixture.db->accept();
  CHECK(second->take() == "connection;");
  fixture.wire().result();
  fixture.wire().closeIdle();
  CHECK(fixture.db->wires().empty());
  CHECK(fixture.database->numbers().connections == 0);
}

TEST_CASE("beyond the cap they wait in their order, and beyond the queue they are refused", "[db]") {
  Fixture fixture;
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 6; ++i) askers.push_back(reader(i));
  for (int i = 0; i < 3; ++i) fixture.ask(*askers[static_cast<size_t>(i)]);
  CHECK(fixture.db->attempts().size() == 2);
  fixture.db->accept();
  fixture.db->accept();
  CHECK(askers[0]->take() == "connection;");
  CHECK(askers[1]->take() == "connection;");
  fixture.ask(*askers[3]);
  fixture.ask(*askers[4]);
  fixture.ask(*askers[5]);
  CHECK(askers[5]->take() == errorNote(ErrorKind::kQueueFull));
  CHECK(fixture.database->numbers().waiting == 3);
  fixture.wire(1).result();
  CHECK(askers[2]->take() == "connection;");
  CHECK(askers[3]->take().empty());
  fixture.wire(0).result();
  CHECK(askers[3]->take() == "connection;");
  CHECK(fixture.db->most() == 2);
}

TEST_CASE("who waits too long is told, and who gives up is not", "[db]") {
  Fixture fixture;
  auto one = holder(), two = holder();
  fixture.open(*one);
  fixture.open(*two);
  auto late = reader(), gone = reader(), later = reader();
  fixture.ask(*late);
  fixture.ask(*gone);
  fixture.pass(1000);
  fixture.ask(*later);
  gone.reset();
  fixture.pass(3999);
  CHECK(late->take().empty());
  fixture.pass(1);
  CHECK(late->take() == errorNote(ErrorKind::kQueueTimeout));
  CHECK(later->take().empty());
  one->link->release();
  CHECK(later->take() == "connection;");
  CHECK(fixture.database->numbers().queue_timeouts == 1);
  CHECK(fixture.database->numbers().waiting == 0);
}

TEST_CASE("what is open at release is rolled back before anybody else has it", "[db]") {
  Fixture fixture;
  auto asker = holder();
  SimWire& wire = fixture.open(*asker);
  asker->link->execute({SqlText("START TRANSACTION"), {}});
  wire.transaction = true;
  wire.result();
  CHECK(asker->link->inTransaction());
  asker->link->release();
  CHECK(wire.text() == "ROLLBACK");
  auto next = reader();
  fixture.ask(*next);
  CHECK(next->take().empty());
  wire.transaction = false;
  wire.result();
  CHECK(next->take() == "connection;");
}

TEST_CASE("a connection that cannot be rolled back is closed", "[db]") {
  for (const bool hangs : {false, true}) {
    Fixture fixture;
    auto asker = holder();
    SimWire& wire = fixture.open(*asker);
    wire.transaction = true;
    asker.reset();
    REQUIRE(wire.text() == "ROLLBACK");
    if (hangs) {
      fixture.pass(5000);
    } else {
      wire.error(1);
    }
    CHECK(fixture.db->wires().empty());
    CHECK(fixture.database->numbers().in_use == 0);
  }
}

TEST_CASE("a session that was changed is closed", "[db]") {
  Fixture fixture;
  auto asker = holder();
  fixture.askAny(*asker);
  fixture.db->accept();
  asker->link->touched();
  SECTION("and only that") {
    asker->link->release();
    CHECK(fixture.db->wires().empty());
    auto next = reader();
    fixture.open(*next).result();
    CHECK(fixture.db->wires().size() == 1);
  }
  SECTION("so is the one on which a read was done again") {
    asker->link->execute(reading(1));
    fixture.wire().lose();
    fixture.db->accept().result();
    asker->link->release();
    CHECK(fixture.db->wires().empty());
  }
}

TEST_CASE("a client that leaves has its statement killed, and the connection goes on", "[db]") {
  Fixture fixture;
  auto asker = reader();
  SimWire& wire = fixture.open(*asker);
  asker.reset();
  fixture.pass(19);
  CHECK(fixture.db->kills().empty());
  fixture.pass(1);
  REQUIRE(fixture.db->kills().size() == 1);
  CHECK(fixture.db->kills()[0].thread_id == wire.id);
  SECTION("the kill is answered last") {
    wire.error(1317);
    CHECK_FALSE(wire.busy());
    fixture.db->answerKill();
  }
  SECTION("the kill is answered first") {
    fixture.db->answerKill();
    CHECK(wire.text() == "SELECT n FROM t WHERE id = ?");
    wire.error(1317);
  }
  SECTION("the statement ended before") {
    wire.result();
    fixture.db->answerKill();
  }
  CHECK(fixture.database->numbers().killed == 1);
  REQUIRE(wire.text() == "DO NULL");
  auto next = reader();
  fixture.ask(*next);
  CHECK(next->take().empty());
  wire.error(1317);
  CHECK(next->take() == "connection;");
  CHECK(fixture.database->numbers().killed == 1);
}

TEST_CASE("a connection whose kill nobody knows of is not used again", "[db]") {
  Fixture fixture;
  auto asker = reader();
  SimWire& wire = fixture.open(*asker);
  SECTION("its client has left") {
    asker.reset();
    fixture.pass(20);
    SECTION("the statement ends first") {
      wire.error(1317);
      CHECK(fixture.db->wires().size() == 1);
      fixture.db->answerKill(0, false);
    }
    SECTION("the answer comes first") {
      fixture.db->answerKill(0, false);
      CHECK(fixture.db->wires().size() == 1);  // what runs still counts
      wire.result();
    }
  }
  SECTION("it took too long, and its client is told what became of it") {
    fixture.pass(30'000);
    asker->take();
    SECTION("by its end") {
      fixture.db->answerKill(0, false);
      CHECK(asker->take().empty());
      wire.error(1317);
    }
    SECTION("by the answer") {
      wire.error(1317);
      CHECK(asker->take().empty());
      fixture.db->answerKill(0, false);
    }
    CHECK(asker->take() == errorNote(ErrorKind::kTimeout, true));
  }
  CHECK(fixture.db->wires().empty());
  CHECK(fixture.database->numbers().in_use == 0);
  CHECK(fixture.database->numbers().killed == 0);
  auto next = reader();
  fixture.open(*next);
  CHECK(next->take() == "connection;");
}

TEST_CASE("a statement that ends soon after its client has left is not killed", "[db]") {
  Fixture fixture;
  auto asker = writer();
  SimWire& wire = fixture.open(*asker);
  asker.reset();
  wire.result();
  fixture.pass(1000);
  CHECK(fixture.db->kills().empty());
  CHECK(fixture.database->numbers().in_use == 0);
  CHECK(fixture.db->wires().size() == 1);
}

TEST_CASE("a statement that nobody waits for is told as it ends, and killed if it goes on", "[db]") {
  Fixture fixture;
  auto asker = writer();
  SimWire& wire = fixture.open(*asker);
  CHECK(asker->take() == "connection;");
  fixture.pass(10'000);
  asker->link->hurry();
  fixture.pass(19);
  CHECK(fixture.db->kills().empty());
  SECTION("it ends in time") {
    wire.result();
    CHECK(asker->take() == "result 0;");
    fixture.pass(100);
    CHECK(fixture.db->kills().empty());
  }
  SECTION("it is killed") {
    fixture.pass(1);
    REQUIRE(fixture.db->kills().size() == 1);
    wire.error(1317);
    fixture.db->answerKill();
    wire.result();
    CHECK(asker->take() == errorNote(ErrorKind::kTimeout, true));
  }
  SECTION("nothing comes of it") {
    fixture.pass(1);
    fixture.pass(1000);
    CHECK(asker->take() == errorNote(ErrorKind::kTimeout, false));
  }
}

TEST_CASE("a statement that a kill came too early for is killed again", "[db]") {
  Fixture fixture;
  auto asker = writer();
  SimWire& wire = fixture.open(*asker);
  asker.reset();
  fixture.pass(20);
  REQUIRE(fixture.db->kills().size() == 1);
  fixture.pass(1000);  // it has not been answered
  REQUIRE(fixture.db->kills().size() == 1);
  fixture.db->answerKill();
  fixture.pass(199);
  CHECK(fixture.db->kills().empty());
  fixture.pass(1);
  REQUIRE(fixture.db->kills().size() == 1);
  wire.error(1317);
  fixture.db->answerKill();
  CHECK(wire.text() == "DO NULL");
  wire.result();
  CHECK(fixture.database->numbers().in_use == 0);
  CHECK(fixture.db->wires().size() == 1);
}

TEST_CASE("a killed statement that does not end costs its connection after five seconds", "[db]") {
  Fixture fixture;
  auto asker = reader();
  fixture.open(*asker);
  asker.reset();
  fixture.pass(20);
  fixture.db->answerKill();
  fixture.pass(4979);
  CHECK(fixture.db->wires().size() == 1);
  fixture.pass(1);
  CHECK(fixture.db->wires().empty());
}

TEST_CASE("a reader too slow loses its statement, not the connection", "[db]") {
  Options options = small();
  options.stream_timeout_ms = 60'000;
  Fixture fixture(options);
  auto asker = reader();
  asker->rows_wanted = 2;
  SimWire& wire = fixture.open(*asker);
  wire.columns();
  CHECK(wire.row(1));
  CHECK_FALSE(wire.row(2));
  fixture.pass(59'999);  // the server is not to blame: no query_timeout_ms
  CHECK(fixture.db->kills().empty());
  fixture.pass(1);
  REQUIRE(fixture.db->kills().size() == 1);
  CHECK_FALSE(wire.paused);
  CHECK(wire.row(3));  // read away
  CHECK(asker->take() == "connection;columns;row 1;row 2;");
  wire.error(1317);
  fixture.db->answerKill();
  wire.result();
  CHECK(asker->take() == errorNote(ErrorKind::kTimeout, true));
  CHECK(fixture.db->wires().size() == 1);
  CHECK(fixture.database->numbers().in_use == 0);
}

TEST_CASE("a slow reader gives way to who waits", "[db]") {
  Options options;
  options.max_connections = 1;
  Fixture fixture(options);
  auto asker = reader();
  SimWire& wire = openPaused(fixture, *asker);
  fixture.pass(1500);
  asker->rows_wanted = 1;
  asker->link->resume();
  CHECK_FALSE(wire.row(2));
  asker->take();
  fixture.pass(10'000);  // nobody waits
  CHECK(fixture.db->kills().empty());
  asker->rows_wanted = 1;
  asker->link->resume();
  CHECK_FALSE(wire.row(3));
  asker->take();
  auto next = reader();
  fixture.ask(*next);
  fixture.pass(100);
  REQUIRE(fixture.db->kills().size() == 1);
  CHECK_FALSE(wire.paused);
  wire.error(1317);
  fixture.db->answerKill();
  wire.result();
  CHECK(asker->take() == errorNote(ErrorKind::kTimeout, true));
  asker->link->release();
  CHECK(next->take() == "connection;");
}

TEST_CASE("a reader who was slow for less gives way to nobody", "[db]") {
  Options options;
  options.max_connections = 1;
  Fixture fixture(options);
  auto asker = reader();
  openPaused(fixture, *asker);
  auto next = reader();
  fixture.ask(*next);
  fixture.pass(1999);
  CHECK(fixture.db->kills().empty());
  asker->link->resume();
  fixture.pass(2000);  // it waits for the server
  CHECK(fixture.db->kills().empty());
}

TEST_CASE("a client that leaves while its reader is paused", "[db]") {
  Fixture fixture;
  auto asker = reader();
  SimWire& wire = openPaused(fixture, *asker);
  asker.reset();
  CHECK(fixture.db->kills().size() == 1);
  CHECK_FALSE(wire.paused);
  CHECK(wire.row(2));
  wire.error(1317);
  fixture.db->answerKill();
  wire.result();
  CHECK(fixture.database->numbers().in_use == 0);
}

TEST_CASE("a client that leaves in the middle of a row, whatever it answers", "[db]") {
  Fixture fixture;
  auto asker = reader();
  asker->on_row = [&] {
    asker.reset();
    return false;
  };
  SimWire& wire = fixture.open(*asker);
  wire.columns();
  CHECK(wire.row(1));  // the rest is read away
  wire.result();
  CHECK(fixture.db->kills().empty());
  CHECK(fixture.database->numbers().in_use == 0);
}

TEST_CASE("a statement that brings nothing in time is killed", "[db]") {
  Fixture fixture;
  auto asker = writer();
  SimWire& wire = fixture.open(*asker);
  fixture.pass(29'999);
  CHECK(fixture.db->kills().empty());
  fixture.pass(1);
  REQUIRE(fixture.db->kills().size() == 1);
  SECTION("and ends by it") {
    fixture.db->answerKill();
    wire.error(1317);
    CHECK(asker->take() == "connection;");
    wire.result();
    CHECK(asker->take() == errorNote(ErrorKind::kTimeout, true));
  }
  SECTION("and ends by itself: what it has done is told") {
    Outcome done;
    done.affected_rows = 2;
    wire.result(done);
    fixture.db->answerKill();
    wire.result();
    CHECK(asker->take() == "connection;result 0;");
  }
  SECTION("and is answered as if there were no such rows, which may be the kill's doing") {
    wire.result();
    fixture.db->answerKill();
    wire.result();
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kTimeout, true));
  }
  SECTION("and was refused for a reason of its own") {
    wire.error(1062);
    fixture.db->answerKill();
    wire.result();
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kStatement, true));
  }
  SECTION("and does not end") {
    fixture.pass(1000);
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kTimeout));
    fixture.pass(4000);
    CHECK(fixture.db->wires().empty());
  }
  SECTION("and its connection dies") {
    wire.lose();
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kTimeout));
    CHECK(fixture.db->wires().empty());
  }
}

TEST_CASE("a read that was killed for its time has no result, whatever the server says", "[db]") {
  Fixture fixture;
  auto asker = holder();
  SimWire& wire = fixture.open(*asker);
  asker->link->execute(reading(1), 100);
  fixture.pass(100);
  wire.columns();
  wire.row(1);  // what SLEEP answers when it is killed
  wire.result();
  fixture.db->answerKill();
  wire.result();
  CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kTimeout, true));
  asker->link->execute(reading(2));
  wire.columns();
  wire.row(2);
  wire.result();
  CHECK(asker->take() == "columns;row 2;result 1;");
}

TEST_CASE("a read whose connection dies before a row came is done once more", "[db]") {
  Fixture fixture;
  auto asker = reader(9);
  fixture.askAny(*asker);
  fixture.db->accept().columns();
  SECTION("on a connection that is opened") {
    fixture.wire().lose();
    REQUIRE(fixture.db->attempts().size() == 1);
    fixture.db->accept();
  }
  SECTION("on one that is there") {
    auto other = reader(8);
    fixture.askAny(*other);
    SimWire& second = fixture.db->accept();
    second.result();
    fixture.wire(0).lose();
    CHECK(fixture.db->attempts().empty());
  }
  REQUIRE(fixture.db->wires().size() == 1);
  REQUIRE(fixture.wire().busy());
  CHECK(fixture.wire().statement().values[0].asInt() == 9);
  fixture.wire().columns();
  fixture.wire().row(1);
  fixture.wire().result();
  CHECK(asker->take() == "connection;columns;row 1;result 1;");
  CHECK(fixture.database->numbers().in_use == 0);
  CHECK(fixture.database->numbers().connections == 1);
}

TEST_CASE("a read is done twice at most, and not after a row", "[db]") {
  Fixture fixture;
  auto asker = reader();
  fixture.askAny(*asker);
  fixture.db->accept().columns();
  SECTION("twice") {
    fixture.wire().lose();
    fixture.db->accept().lose();
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kLost));
  }
  SECTION("a row") {
    fixture.wire().row(1);
    fixture.wire().lose();
    CHECK(asker->take() == "connection;columns;row 1;" + errorNote(ErrorKind::kLost));
  }
  SECTION("nothing can be reached") {
    fixture.wire().lose();
    fixture.db->refuse();
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kLost));
  }
  SECTION("the client leaves meanwhile") {
    fixture.wire().lose();
    asker.reset();
    fixture.db->accept();
    CHECK(fixture.db->wires().size() == 1);
    CHECK_FALSE(fixture.wire().busy());
  }
  SECTION("its time is over meanwhile") {
    fixture.wire().lose();
    fixture.pass(30'000);
    CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kTimeout));
    fixture.db->accept();
  }
  CHECK(fixture.db->attempts().empty());
  CHECK(fixture.database->numbers().in_use == 0);
}

TEST_CASE("what may have written is never sent twice", "[db]") {
  Fixture fixture;
  auto asker = writer();
  fixture.open(*asker).lose();
  CHECK(asker->take() == "connection;" + errorNote(ErrorKind::kLost));
  CHECK(fixture.db->attempts().empty());
  CHECK(fixture.database->numbers().lost == 1);
}

TEST_CASE("a connection that dies between two statements", "[db]") {
  Fixture fixture;
  auto asker = holder();
  SimWire& wire = fixture.open(*asker);
  wire.closeIdle();
  CHECK(asker->take() == "connection;");
  CHECK_FALSE(asker->link->inTransaction());
  SECTION("the next one says so") {
    asker->link->execute(writing(1));
    CHECK(asker->take() == errorNote(ErrorKind::kLost));
  }
  SECTION("or there is none") {
    asker->link->release();
  }
  CHECK(fixture.database->numbers().in_use == 0);
  CHECK(fixture.database->numbers().connections == 0);
}

TEST_CASE("while nothing can be reached they are refused at once, ever longer", "[db]") {
  Fixture fixture;
  auto first = reader(), second = reader();
  fixture.ask(*first);
  fixture.db->refuse();
  CHECK(first->take() == errorNote(ErrorKind::kUnavailable));
  CHECK(first->last.retry_after_s == 1);
  int64_t longest_ms = 0;
  for (int failures = 1; failures < 12; ++failures) {
    fixture.ask(*second);
    CHECK(second->take() == errorNote(ErrorKind::kUnavailable));
    CHECK(fixture.db->attempts().empty());
    int64_t waited_ms = 0;
    while (fixture.db->attempts().empty() && waited_ms < 40'000) {
      fixture.pass(10);
      waited_ms += 10;
    }
    REQUIRE(fixture.db->attempts().size() == 1);  // since somebody had asked
    CHECK(second->last.retry_after_s * 1000 + 1000 >= waited_ms);
    fixture.db->refuse();
    longest_ms = waited_ms;
  }
  CHECK(longest_ms >= 25'000);
  CHECK(longest_ms <= 32'000);
  fixture.pass(40'000);
  CHECK(fixture.db->attempts().empty());  // nobody has asked since
  fixture.ask(*second);
  CHECK(second->take().empty());
  fixture.db->accept();
  CHECK(second->take() == "connection;");
}

TEST_CASE("a server that hangs when it is tried again is not waited for", "[db]") {
  Fixture fixture;
  auto first = reader(), second = reader(), third = reader();
  fixture.ask(*first);
  fixture.pass(4999);  // nobody knows yet
  CHECK(first->take().empty());
  fixture.db->refuse();
  CHECK(first->take() == errorNote(ErrorKind::kUnavailable));
  fixture.pass(400);
  fixture.ask(*second);
  fixture.pass(249);
  fixture.ask(*third);
  CHECK(second->take().empty());
  CHECK(third->take().empty());
  fixture.pass(1);
  CHECK(second->take() == errorNote(ErrorKind::kUnavailable));
  CHECK(third->take() == errorNote(ErrorKind::kUnavailable));
  fixture.ask(*second);
  CHECK(second->take() == errorNote(ErrorKind::kUnavailable));
  fixture.db->accept();
  fixture.ask(*second);
  CHECK(second->take() == "connection;");
}

TEST_CASE("replicas that hang when they are tried again do not hold up reads", "[db]") {
  Options options = small();
  options.max_connections = 3;
  options.replicas.resize(1);
  Fixture fixture(options);
  auto one = reader(), two = reader();
  fixture.askAny(*one);
  fixture.db->refuse();
  fixture.db->accept().result();  // by the primary
  CHECK(one->take() == "connection;result 0;");
  fixture.pass(400);
  fixture.askAny(*two);
  CHECK(two->take().empty());
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].target == 1);
  fixture.pass(250);
  CHECK(two->take() == "connection;");
  CHECK(fixture.db->wires().size() == 1);
}

TEST_CASE("one that fails while others are open harms nobody", "[db]") {
  Fixture fixture;
  auto one = holder();
  fixture.open(*one);
  auto two = reader();
  fixture.ask(*two);
  fixture.db->refuse();
  CHECK(two->take().empty());
  fixture.pass(300);
  REQUIRE(fixture.db->attempts().size() == 1);
  fixture.db->refuse(0, 1040);
  one->link->release();
  CHECK(two->take() == "connection;");
}

TEST_CASE("connections that are not used are closed, and old ones replaced", "[db]") {
  Fixture fixture;
  auto one = reader();
  fixture.open(*one).result();
  fixture.pass(299'999);
  CHECK(fixture.db->wires().size() == 1);
  fixture.pass(1);
  CHECK(fixture.db->wires().empty());
  fixture.open(*one).result();
  int64_t lived_s = 0;
  while (fixture.db->wires().size() == 1 && lived_s < 4000) {
    fixture.pass(1000);
    ++lived_s;
    if (fixture.db->wires().empty()) break;
    fixture.ask(*one);
    fixture.wire().result();
  }
  CHECK(lived_s >= 3240);
  CHECK(lived_s <= 3600);
}

TEST_CASE("a connection held too long is told once", "[db]") {
  Fixture fixture;
  auto one = holder();
  fixture.open(*one);
  fixture.pass(59'999);
  CHECK(fixture.database->numbers().leaks_reported == 0);
  fixture.pass(1);
  CHECK(fixture.database->numbers().leaks_reported == 1);
  fixture.pass(600'000);
  CHECK(fixture.database->numbers().leaks_reported == 1);
}

TEST_CASE("reads go to the replicas, in turn, and writes to the primary", "[db]") {
  Options options = small();
  options.max_connections = 8;
  options.max_waiting = 100;
  options.replicas.resize(2);
  Fixture fixture(options);
  auto write = writer();
  CHECK(fixture.open(*write).target == 0);
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 4; ++i) {
    askers.push_back(reader());
    fixture.askAny(*askers.back());
  }
  REQUIRE(fixture.db->attempts().size() == 4);
  size_t per_target[3] = {0, 0, 0};
  while (!fixture.db->attempts().empty()) ++per_target[fixture.db->accept().target];
  CHECK(per_target[0] == 0);
  CHECK(per_target[1] == 2);
  CHECK(per_target[2] == 2);
}

TEST_CASE("an idle connection to a replica gives way to one to the primary", "[db]") {
  Options options = small();
  options.max_connections = 1;
  options.replicas.resize(1);
  Fixture fixture(options);
  auto read = reader(), write = writer();
  fixture.askAny(*read);
  fixture.db->accept().result();
  fixture.ask(*write);
  CHECK(fixture.db->wires().empty());
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].target == 0);
}

TEST_CASE("who waits is not forgotten while a connection is opened for somebody else", "[db]") {
  Fixture fixture;
  auto one = reader(), two = reader();
  fixture.askAny(*one);
  fixture.db->accept().lose();  // and again for the first
  fixture.ask(*two);
  while (!fixture.db->attempts().empty()) fixture.db->accept();
  CHECK(one->take() == "connection;");
  CHECK(two->take() == "connection;");
}

TEST_CASE("where no replica can be reached the primary reads", "[db]") {
  Options options = small();
  options.replicas.resize(2);
  Fixture fixture(options);
  auto asker = reader();
  fixture.askAny(*asker);
  const size_t first = fixture.db->attempts()[0].target;
  fixture.db->refuse();
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].target == 3 - first);
  fixture.db->refuse();
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].target == 0);
  fixture.db->accept().result();
  CHECK(asker->take() == "connection;result 0;");
  fixture.askAny(*asker);
  CHECK(asker->take() == "connection;");
}

TEST_CASE("a loop's idle connections go to a loop that waits", "[db]") {
  Fixture fixture(small(), 2);
  auto one = reader(), two = reader(), three = reader();
  fixture.ask(*one, 0);
  fixture.ask(*two, 0);
  fixture.db->accept();
  fixture.db->accept();
  fixture.wire(0).result();
  fixture.wire(1).result();
  fixture.ask(*three, 1);
  CHECK(fixture.db->attempts().empty());
  fixture.settle();
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].loop == fixture.loops[1].get());
  CHECK(fixture.db->wires().size() == 1);
  fixture.db->accept();
  CHECK(three->take() == "connection;");
  CHECK(fixture.db->most() == 2);
}

TEST_CASE("a busy loop gives a connection to one that has none", "[db]") {
  Options options = small();
  options.max_waiting = 100;
  Fixture fixture(options, 2);
  std::vector<std::unique_ptr<Asker>> busy;
  for (int i = 0; i < 20; ++i) {
    busy.push_back(reader());
    fixture.ask(*busy.back(), 0);
  }
  fixture.db->accept();
  fixture.db->accept();
  auto other = reader();
  fixture.ask(*other, 1);
  fixture.settle();
  fixture.wire(0).result();  // the next that comes back
  fixture.settle();
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].loop == fixture.loops[1].get());
  fixture.db->accept();
  CHECK(other->take() == "connection;");
  // Both have their share now, and keep it while both are busy.
  auto another = reader();
  fixture.ask(*another, 1);
  fixture.pass(100);
  for (int i = 0; i < 5; ++i) {
    fixture.wire(0).result();
    fixture.settle();
    CHECK(fixture.db->attempts().empty());
  }
}

TEST_CASE("fewer connections than loops are handed round", "[db]") {
  Options options = small();
  options.max_connections = 1;
  options.max_waiting = 100;
  Fixture fixture(options, 2);
  std::vector<std::unique_ptr<Asker>> busy;
  for (int i = 0; i < 50; ++i) {
    busy.push_back(reader());
    fixture.ask(*busy.back(), 0);
  }
  fixture.db->accept();
  auto other = reader();
  fixture.ask(*other, 1);
  for (int ms = 0; ms < 100 && fixture.db->attempts().empty(); ms += 10) {
    fixture.pass(10);
    fixture.wire(0).result();
    fixture.settle();
  }
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].loop == fixture.loops[1].get());
  CHECK(fixture.db->wires().empty());
}

TEST_CASE("a server with fewer places than the cap is shared by the loops too", "[db]") {
  Options options = small();
  options.max_connections = 8;
  options.max_waiting = 100;
  Fixture fixture(options, 2);
  std::vector<std::unique_ptr<Asker>> busy;
  for (int i = 0; i < 20; ++i) {
    busy.push_back(reader());
    fixture.ask(*busy.back(), 0);
  }
  REQUIRE(fixture.db->attempts().size() == 8);
  for (int i = 0; i < 3; ++i) fixture.db->accept();
  while (!fixture.db->attempts().empty()) fixture.db->refuse(0, 1040);
  auto other = reader(), another = reader();
  fixture.ask(*other, 1);
  fixture.ask(*another, 1);
  REQUIRE(fixture.db->attempts().size() == 2);
  fixture.db->refuse(0, 1040);
  fixture.db->refuse(0, 1040);
  fixture.settle();
  CHECK(other->take().empty());
  CHECK(fixture.db->attempts().empty());
  fixture.wire(0).result();  // comes back, and is given up
  fixture.settle();
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].loop == fixture.loops[1].get());
  CHECK(fixture.db->wires().size() == 2);
  fixture.db->accept();
  CHECK(other->take() == "connection;");
  fixture.pass(1500);  // and then it is tried whether there is room again
  CHECK(fixture.db->attempts().size() > 0);
}

TEST_CASE("a server that takes fewer than the cap is told of once a minute", "[db]") {
  const log::test::TempDir folder;
  const std::string path = folder.path("log");
  const auto count = [&path](const char* text) { return log::test::countLinesWith(path, text); };
  const log::test::StderrToFile told(path);
  Options options = small();
  options.max_connections = 8;
  Fixture fixture(options);
  auto keeps = holder();
  fixture.open(*keeps);
  for (int second = 0; second < 59; ++second) {
    auto more = reader();
    fixture.ask(*more);
    while (!fixture.db->attempts().empty()) fixture.db->refuse(0, 1226);
    CHECK(more->take().empty());
    fixture.pass(1000);
    if (second % 10 == 0) fixture.db->accept().result();  // one has gone elsewhere, for a while
    while (!fixture.db->attempts().empty()) fixture.db->refuse(0, 1226);
    if (second % 10 == 0) fixture.wire(1).closeIdle();
  }
  CHECK(count("takes fewer connections than mysql.max_connections (8)") == 1);
  CHECK(count("reached") == 0);
  fixture.pass(2000);
  auto more = reader();
  fixture.ask(*more);
  while (!fixture.db->attempts().empty()) fixture.db->refuse(0, 1226);
  CHECK(count("takes fewer connections than mysql.max_connections (8)") == 2);
  // What is no lack of room has words of its own, as soon as nothing is open any more.
  keeps->link->release();
  CHECK(more->take() == "connection;");
  fixture.wire(0).result();
  fixture.wire(0).closeIdle();
  fixture.pass(2000);
  auto late = reader();
  fixture.ask(*late);
  fixture.db->refuse(0, 2002);
  CHECK(late->take() == errorNote(ErrorKind::kUnavailable));
  CHECK(count("cannot be reached") == 1);
  fixture.pass(40000);
  fixture.ask(*late);
  fixture.db->accept();
  CHECK(count("is reached again") == 1);
}

TEST_CASE("who has given its last connection away asks for one where the server has no more room", "[db]") {
  Options options = small();
  options.max_connections = 8;
  Fixture fixture(options, 2);
  auto one = reader(), two = reader(), other = holder();
  fixture.ask(*one, 0);
  fixture.ask(*two, 0);
  fixture.db->accept();
  fixture.db->refuse(0, 1226);
  fixture.wire(0).result();
  fixture.wire(0).result();
  CHECK(two->take() == "connection;result 0;");
  fixture.ask(*other, 1);
  fixture.db->refuse(0, 1226);
  fixture.settle();  // and the other loop's idle one is closed
  REQUIRE(fixture.db->attempts().size() == 1);
  fixture.db->accept();
  CHECK(other->take() == "connection;");
  CHECK(fixture.db->wires().size() == 1);
  auto late = reader();
  fixture.ask(*late, 0);
  CHECK(late->take().empty());
  other->link->release();
  fixture.settle();
  REQUIRE(fixture.db->attempts().size() == 1);
  CHECK(fixture.db->attempts()[0].loop == fixture.loops[0].get());
  fixture.db->accept();
  CHECK(late->take() == "connection;");
}

TEST_CASE("a refusal for want of room is no news of the attempts beside it", "[db]") {
  Fixture fixture;
  auto one = reader(), two = reader();
  fixture.ask(*one);
  fixture.ask(*two);
  fixture.db->refuse(0, 1040);
  CHECK(one->take().empty());
  CHECK(two->take().empty());
  fixture.db->accept().result();
  CHECK(one->take() == "connection;result 0;");
  CHECK(two->take() == "connection;");
  fixture.wire().result();
  CHECK(two->take() == "result 0;");
  fixture.wire().closeIdle();
  fixture.ask(*one);
  fixture.ask(*two);
  fixture.db->refuse(0, 1040);
  fixture.db->refuse(0, 1040);  // nobody has any
  CHECK(one->take() == errorNote(ErrorKind::kUnavailable));
  CHECK(two->take() == errorNote(ErrorKind::kUnavailable));
}

TEST_CASE("room that was made and taken by others is not asked for at once again", "[db]") {
  Options options = small();
  options.max_connections = 4;
  Fixture fixture(options, 2);
  std::vector<std::unique_ptr<Asker>> first;
  for (int i = 0; i < 3; ++i) {
    first.push_back(reader());
    fixture.ask(*first.back(), 0);
  }
  while (!fixture.db->attempts().empty()) fixture.db->accept();
  for (int i = 0; i < 3; ++i) fixture.wire(static_cast<size_t>(i)).result();
  auto other = reader();
  fixture.ask(*other, 1);
  fixture.db->refuse(0, 1040);
  fixture.settle();
  const size_t left = fixture.db->wires().size();
  CHECK(left < 3);
  REQUIRE(fixture.db->attempts().size() == 1);
  fixture.db->refuse(0, 1040);
  fixture.pass(900);
  CHECK(fixture.db->attempts().empty());
  CHECK(fixture.db->wires().size() == left);
  CHECK(other->take().empty());
  fixture.pass(200);
  REQUIRE(fixture.db->attempts().size() == 1);
  fixture.db->accept();
  CHECK(other->take() == "connection;");
}

TEST_CASE("a full replica costs the primary no connection", "[db]") {
  Options options = small();
  options.replicas.resize(1);
  Fixture fixture(options, 2);
  auto read = reader();
  fixture.askAny(*read);
  fixture.db->refuse(0, 1226);
  REQUIRE(fixture.db->attempts().size() == 1);  // as any replica that cannot be reached
  CHECK(fixture.db->attempts()[0].target == 0);
  fixture.db->accept();
  auto write = writer();
  fixture.open(*write);
  for (int i = 0; i < 2; ++i) fixture.wire(static_cast<size_t>(i)).result();
  read->take();
  const uint64_t ids[] = {fixture.wire(0).id, fixture.wire(1).id};
  for (int i = 0; i < 10; ++i) {
    fixture.pass(700);
    auto again = reader();
    fixture.askAny(*again);
    fixture.settle();
    CHECK(again->take() == "connection;");
    for (SimWire* one : fixture.db->wires()) {
      if (one->busy()) one->result();
    }
    CHECK(fixture.db->attempts().empty());
  }
  CHECK(fixture.db->wire(ids[0]) != nullptr);
  CHECK(fixture.db->wire(ids[1]) != nullptr);
}

TEST_CASE("a full replica is no matter of other loops", "[db]") {
  Options options = small();
  options.max_connections = 4;
  options.replicas.resize(1);
  Fixture fixture(options, 2);
  auto write = writer();
  fixture.ask(*write, 0);
  fixture.db->accept().result();
  auto read = reader();
  fixture.askAny(*read, 1);
  fixture.db->refuse(0, 1040);
  fixture.settle();
  CHECK(fixture.db->wires().size() == 1);
  REQUIRE(fixture.db->attempts().size() == 1);  // the primary has room
  CHECK(fixture.db->attempts()[0].target == 0);
}

TEST_CASE("a server that others have filled cannot be reached", "[db]") {
  Fixture fixture(small(), 2);
  auto asker = reader();
  fixture.ask(*asker);
  fixture.db->refuse(0, 1040);
  CHECK(asker->take() == errorNote(ErrorKind::kUnavailable));
}

TEST_CASE("at the end everybody is told and nothing stays open", "[db]") {
  Fixture fixture;
  auto lent = reader(), between = holder(), waiting = reader(), after = reader();
  fixture.open(*lent);
  fixture.open(*between);
  fixture.ask(*waiting);
  fixture.database->stopLoop(*fixture.loops[0]);
  CHECK(lent->take() == "connection;" + errorNote(ErrorKind::kShutdown));
  CHECK(between->take() == "connection;" + errorNote(ErrorKind::kShutdown));
  CHECK(waiting->take() == errorNote(ErrorKind::kShutdown));
  CHECK(fixture.db->wires().empty());
  fixture.ask(*after);
  CHECK(after->take() == errorNote(ErrorKind::kShutdown));
  const Numbers numbers = fixture.database->numbers();
  CHECK(numbers.connections == 0);
  CHECK(numbers.in_use == 0);
  CHECK(numbers.waiting == 0);
}

TEST_CASE("a connection that comes after the end is not kept", "[db]") {
  Fixture fixture;
  auto asker = reader();
  fixture.ask(*asker);
  fixture.database->stopLoop(*fixture.loops[0]);
  fixture.db->accept();
  CHECK(fixture.db->wires().empty());
}

TEST_CASE("a thousand waiting are served without a thousand frames on the stack", "[db]") {
  Options options = small();
  options.max_waiting = 100'000;
  options.max_connections = 1;
  Fixture fixture(options);
  // Each statement is answered before execute() returns.
  fixture.db->on_execute = [](SimWire& wire) { wire.result(); };
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 50'000; ++i) {
    askers.push_back(reader());
    fixture.ask(*askers.back());
  }
  fixture.db->accept();
  size_t served = 0;
  for (const auto& asker : askers) served += asker->notes == "connection;result 0;";
  CHECK(served == askers.size());
}
