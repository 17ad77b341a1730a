#include "modules/mysql/read_work.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "db/pool.h"
#include "modules/mysql/write_handler.h"
#include "support/h1_server.h"
#include "unit/tables/sample_schema.h"

namespace roost::modules::mysql {
namespace {

// A pool of one connection that does what the test says.
class ScriptedPool final : public db::Pool, public db::Link {
 public:
  std::vector<std::string> texts;  // of what was executed
  int resumed = 0;
  int cancelled = 0;
  int released = 0;

  bool asked() const { return work_ != nullptr; }
  void connect() { work_->onConnection(*this); }
  void columns(std::initializer_list<db::Type> types) {
    columns_.clear();
    for (const db::Type type : types) {
      columns_.emplace_back();
      columns_.back().type = type;
    }
    work_->onColumns(*this, columns_);
  }
  bool row(std::initializer_list<std::string_view> values) {
    std::vector<db::Cell> cells;
    for (const std::string_view value : values) cells.push_back({value.data(), value.size()});
    return work_->onRow(*this, db::Row(cells.data(), cells.size()));
  }
  void result() { work_->onResult(*this, {}); }
  void fail(db::ErrorKind kind, uint32_t number = 0, bool keeps_link = false) {
    db::Error error;
    error.kind = kind;
    error.number = number;
    error.message = "SELECT secret";
    db::Work& work = *work_;
    if (!keeps_link) {
      detach(work);
      work_ = nullptr;
    }
    work.onError(keeps_link ? this : nullptr, error);
  }

  void execute(db::Statement statement, uint32_t) noexcept override {
    texts.emplace_back(statement.text.view());
  }
  void resume() noexcept override { ++resumed; }
  bool inTransaction() const noexcept override { return false; }
  void release() noexcept override {
    ++released;
    detach(*work_);
    work_ = nullptr;
  }

 private:
  void onRequest(db::Work& work, db::Role) noexcept override {
    work_ = &work;
    linkOf(work) = this;
  }
  void onCancel(db::Work& work) noexcept override {
    ++cancelled;
    detach(work);
    work_ = nullptr;
  }

  db::Work* work_ = nullptr;
  db::ResultColumns columns_;
};

struct Fixture final : SchemaAlarm {
  Fixture() {
    server.on("/", [this](http::Exchange& exchange) {
      startRead(exchange, {exposure, &pool, this}, *exposure->find("products"));
    });
    server.start();
  }
  void onSchemaChanged() noexcept override { ++alarms; }

  // Asks, and gets as far as the first row.
  test::SimPeer ask(const std::string& target, const std::string& fields = "",
                    const std::string& method = "GET") {
    test::SimPeer peer = server.connect();
    peer.write(method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
    REQUIRE(server.settle());
    return peer;
  }
  test::SimPeer askRows(const std::string& fields = "", const std::string& method = "GET") {
    test::SimPeer peer = ask("/?select=name", fields, method);
    REQUIRE(pool.asked());
    pool.connect();
    pool.columns({db::Type::kText});
    return peer;
  }
  test::ParsedAnswer answer(test::SimPeer& peer, bool to_head = false) {
    REQUIRE(server.settle());
    const auto parsed = test::parseAnswers(peer.read(), {to_head});
    REQUIRE(parsed.answers.size() == 1);
    return parsed.answers.front();
  }

  const std::shared_ptr<const tables::Exposure> exposure = test::sampleExposure();
  ScriptedPool pool;
  int alarms = 0;
  test::H1Server server;
};

const std::string kKilobyte(1000, 'x');

// Feeds rows of a kilobyte until no more are taken.
int feed(ScriptedPool& pool, int most) {
  int rows = 0;
  while (rows < most) {
    ++rows;
    if (!pool.row({kKilobyte})) break;
  }
  return rows;
}

TEST_CASE("mysql: rows become one answer, and the connection goes back before it is sent", "[mysql]") {
  Fixture f;
  test::SimPeer peer = f.askRows();
  CHECK(f.pool.row({"one"}));
  CHECK(f.pool.row({"two"}));
  f.pool.result();
  CHECK(f.pool.released == 1);
  const test::ParsedAnswer answer = f.answer(peer);
  CHECK(answer.status == 200);
  CHECK(answer.body == R"([{"name":"one"},{"name":"two"}])");
  CHECK(answer.has("\r\nContent-Range: 0-1/*\r\n"));
  CHECK(answer.has("\r\nETag: \""));
  CHECK(f.pool.cancelled == 0);
}

TEST_CASE("mysql: what fails before the first byte has a status, and tells no SQL", "[mysql]") {
  struct Case {
    db::ErrorKind kind;
    uint32_t number;
    int status;
    std::string code;
  };
  const Case cases[] = {{db::ErrorKind::kUnavailable, 2002, 503, "database_unavailable"},
                        {db::ErrorKind::kQueueFull, 0, 503, "pool_full"},
                        {db::ErrorKind::kQueueTimeout, 0, 504, "pool_timeout"},
                        {db::ErrorKind::kTimeout, 0, 504, "query_timeout"},
                        {db::ErrorKind::kStatement, 1054, 503, "schema_changed"},
                        {db::ErrorKind::kStatement, 1146, 503, "schema_changed"}};
  for (const Case& c : cases) {
    INFO(c.code);
    Fixture f;
    test::SimPeer peer = f.askRows();
    CHECK(f.pool.row({"one"}));
    f.pool.fail(c.kind, c.number, c.kind == db::ErrorKind::kStatement);
    const test::ParsedAnswer answer = f.answer(peer);
    CHECK(answer.status == c.status);
    CHECK(answer.has("\r\nContent-Type: application/problem+json\r\n"));
    CHECK(answer.body.find("\"code\":\"" + c.code + "\"") != std::string::npos);
    CHECK(answer.body.find("SELECT") == std::string::npos);
    CHECK((answer.has("\r\nRetry-After: ") || c.status != 503));
    CHECK(f.alarms == (c.code == "schema_changed" ? 1 : 0));
    CHECK(f.pool.released == (c.kind == db::ErrorKind::kStatement ? 1 : 0));
  }
}

TEST_CASE("mysql: a large answer goes out as it comes, as fast as the client takes it", "[mysql]") {
  Fixture f;
  f.server.net.sys.setCapacity(16 << 10);
  test::SimPeer peer = f.askRows();
  int fed = feed(f.pool, 1000);
  CHECK(fed < 60);  // what is kept of it: a piece and what the socket takes
  CHECK(f.pool.resumed == 0);
  std::string received;
  for (int turn = 0; turn < 10000 && fed < 1000; ++turn) {
    const int resumed = f.pool.resumed;
    received += peer.read(4096);
    REQUIRE(f.server.settle());
    if (f.pool.resumed == resumed) continue;
    const int more = feed(f.pool, 1000 - fed);
    fed += more;
    CHECK(more < 60);
  }
  REQUIRE(fed == 1000);
  f.pool.result();
  for (int turn = 0; turn < 100; ++turn) {
    REQUIRE(f.server.settle());
    received += peer.read();
  }
  const auto parsed = test::parseAnswers(received);
  REQUIRE(parsed.answers.size() == 1);
  CHECK(parsed.ok);
  CHECK(parsed.answers[0].complete);
  CHECK(parsed.answers[0].has("\r\nTransfer-Encoding: chunked\r\n"));
  CHECK(parsed.answers[0].body.size() == 1000 * (kKilobyte.size() + 12) + 1);
  CHECK(parsed.answers[0].body.substr(0, 12) == "[{\"name\":\"xx");
  CHECK(parsed.answers[0].body.substr(parsed.answers[0].body.size() - 4) == "x\"}]");
  CHECK(f.pool.cancelled == 0);
}

TEST_CASE("mysql: a fast answer leaves turns to others", "[mysql]") {
  Fixture f;
  f.server.net.sys.setCapacity(16 << 20);
  test::SimPeer peer = f.askRows();
  const int fed = feed(f.pool, 1000);
  CHECK(fed > 200);
  CHECK(fed < 300);
  CHECK(f.pool.resumed == 0);
  REQUIRE(f.server.net.pass(1, 1));
  CHECK(f.pool.resumed == 1);
  CHECK(feed(f.pool, 1000) == fed);
  CHECK(f.pool.cancelled == 0);
  peer.reset();  // between two turns
  REQUIRE(f.server.net.pass(1, 1));
  CHECK(f.pool.cancelled == 1);
}

TEST_CASE("mysql: what fails behind the first byte cuts the answer off", "[mysql]") {
  for (const bool keeps_link : {false, true}) {
    Fixture f;
    test::SimPeer peer = f.askRows();
    REQUIRE(feed(f.pool, 40) == 40);
    f.pool.fail(keeps_link ? db::ErrorKind::kStatement : db::ErrorKind::kLost, 1317, keeps_link);
    REQUIRE(f.server.settle());
    const auto parsed = test::parseAnswers(peer.read());
    REQUIRE(parsed.answers.size() == 1);
    CHECK(parsed.answers[0].status == 200);
    CHECK_FALSE(parsed.answers[0].complete);
    CHECK((peer.sawReset() || peer.sawEnd()));
    CHECK(f.pool.released == (keeps_link ? 1 : 0));
  }
}

TEST_CASE("mysql: a client that takes nothing loses its statement", "[mysql]") {
  Fixture f;
  f.server.options.send_timeout_ms = 600'000;
  f.server.net.sys.setCapacity(16 << 10);
  test::SimPeer peer = f.askRows();
  REQUIRE(feed(f.pool, 1000) < 60);
  REQUIRE(f.server.net.pass(29'000, 500));
  CHECK(f.pool.cancelled == 0);
  REQUIRE(f.server.net.pass(2'000, 500));
  CHECK(f.pool.cancelled == 1);
  CHECK_FALSE(f.pool.asked());
}

TEST_CASE("mysql: a client that leaves ends its statement", "[mysql]") {
  for (const bool begun : {false, true}) {
    Fixture f;
    test::SimPeer peer = f.askRows();
    if (begun) feed(f.pool, 40);
    peer.reset();
    REQUIRE(f.server.settle());
    CHECK(f.pool.cancelled == 1);
  }
  Fixture waiting;
  test::SimPeer peer = waiting.ask("/?select=name");
  peer.reset();
  REQUIRE(waiting.server.settle());
  CHECK(waiting.pool.cancelled == 1);
}

TEST_CASE("mysql: HEAD of a large answer reads no more than it must", "[mysql]") {
  Fixture f;
  test::SimPeer peer = f.askRows("", "HEAD");
  CHECK(feed(f.pool, 1000) < 60);
  CHECK(f.pool.cancelled == 1);
  const test::ParsedAnswer answer = f.answer(peer, true);
  CHECK(answer.status == 200);
  CHECK_FALSE(answer.has("Content-Length"));
  CHECK_FALSE(peer.sawReset());
}

TEST_CASE("mysql: rows are counted before they are read", "[mysql]") {
  Fixture f;
  test::SimPeer peer = f.ask("/?select=name&offset=3", "Prefer: count=exact\r\n");
  f.pool.connect();
  f.pool.result();  // of the transaction's begin
  f.pool.columns({db::Type::kInt});
  const std::string five("\5\0\0\0\0\0\0\0", 8);
  CHECK(f.pool.row({five}));
  f.pool.result();
  REQUIRE(f.pool.texts.size() == 3);
  CHECK(f.pool.texts[0] == "START TRANSACTION");
  CHECK(f.pool.texts[1].find("SELECT COUNT(*)") == 0);
  f.pool.columns({db::Type::kText});
  f.pool.row({"four"});
  f.pool.row({"five"});
  f.pool.result();
  const test::ParsedAnswer answer = f.answer(peer);
  CHECK(answer.status == 206);
  CHECK(answer.has("\r\nContent-Range: 3-4/5\r\n"));
  CHECK(answer.has("\r\nPreference-Applied: count=exact\r\n"));
}

TEST_CASE("mysql: a guess that is too low refuses nothing, and is put right by the rows", "[mysql]") {
  Fixture f;
  test::SimPeer peer = f.ask("/?select=name&offset=6", "Prefer: count=planned\r\n");
  f.pool.connect();
  f.pool.columns({db::Type::kInt});
  const std::string five("\5\0\0\0\0\0\0\0", 8);
  CHECK(f.pool.row({five}));
  f.pool.result();
  f.pool.columns({db::Type::kText});
  f.pool.row({"seven"});
  f.pool.result();
  const test::ParsedAnswer answer = f.answer(peer);
  CHECK(answer.status == 206);
  CHECK(answer.has("\r\nContent-Range: 6-6/7\r\n"));
}

TEST_CASE("mysql: beyond the last row nothing is read", "[mysql]") {
  Fixture f;
  test::SimPeer peer = f.ask("/?select=name&offset=6", "Prefer: count=exact\r\n");
  f.pool.connect();
  f.pool.result();  // of the transaction's begin
  f.pool.columns({db::Type::kInt});
  const std::string five("\5\0\0\0\0\0\0\0", 8);
  CHECK(f.pool.row({five}));
  f.pool.result();
  CHECK(f.pool.texts.size() == 2);
  CHECK(f.pool.released == 1);
  const test::ParsedAnswer answer = f.answer(peer);
  CHECK(answer.status == 416);
  CHECK(answer.has("\r\nContent-Range: */5\r\n"));
}

TEST_CASE("mysql: a single object is one row, or a problem", "[mysql]") {
  for (const int rows : {0, 1, 2}) {
    Fixture f;
    test::SimPeer peer = f.askRows("Accept: application/vnd.pgrst.object+json\r\n");
    for (int i = 0; i < rows; ++i) CHECK(f.pool.row({"one"}));
    f.pool.result();
    const test::ParsedAnswer answer = f.answer(peer);
    CHECK(answer.status == (rows == 1 ? 200 : 406));
    if (rows == 1) CHECK(answer.body == R"({"name":"one"})");
  }
}

}  // namespace
}  // namespace roost::modules::mysql
