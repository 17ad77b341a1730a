// links: roost_db PkgConfig::MYSQL_CLIENT
//
// What a statement costs the loop that asks for it: db_bench <socket> [loop|threads] [connections] [seconds]
// reads one row by key, and 100 rows, by several wires at once on one loop, and tells the CPU time of the
// loop's thread, of the process, and the rate. Beside it a thread that waits (db::Connection's way, keeping
// its statement) does the same. The server is one that the caller has started; the database test is used.
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "db/client.h"
#include "db/connection.h"
#include "db/prepared.h"
#include "db/wire.h"
#include "event/loop.h"

namespace {

using namespace roost;

double cpuSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct Measured {
  uint64_t statements = 0;
  uint64_t rows = 0;
  double loop_cpu = 0;
  double process_cpu = 0;
  double seconds = 0;
};

void print(const char* what, const Measured& m) {
  const auto n = static_cast<double>(m.statements);
  std::printf("%-28s %8.0f/s   %6.2f us on its thread, %6.2f us in the process, %llu rows\n", what,
              n / m.seconds, m.loop_cpu / n * 1e6, m.process_cpu / n * 1e6,
              static_cast<unsigned long long>(m.rows));
}

class Bench;

// Executes the same statement over and over.
class Runner final : public db::WireListener {
 public:
  Runner(Bench& bench, std::unique_ptr<db::Wire> wire) : bench_(bench), wire_(std::move(wire)) {
    wire_->setListener(*this);
  }
  void next();
  void onColumns(const db::ResultColumns&) noexcept override {}
  bool onRow(const db::Row& row) noexcept override;
  void onResult(const db::Outcome&) noexcept override;
  void onError(const db::Error& error) noexcept override {
    std::fprintf(stderr, "%u %s\n", error.number, error.message.c_str());
    std::exit(1);
  }
  void onIdleClosed() noexcept override { std::exit(1); }

 private:
  Bench& bench_;
  std::unique_ptr<db::Wire> wire_;
  db::Statement statement_;
};

class Bench {
 public:
  explicit Bench(event::Loop& loop) : loop_(loop) {}
  Measured run(bool many, double seconds) {
    many_ = many;
    measured_ = {};
    running_ = runners_.size();
    const double start = cpuSeconds(CLOCK_MONOTONIC);
    const double loop_cpu = cpuSeconds(CLOCK_THREAD_CPUTIME_ID);
    const double process_cpu = cpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    stop_at_ = start + seconds;
    for (const auto& runner : runners_) runner->next();
    while (running_ != 0) loop_.runOnce(-1);
    measured_.seconds = cpuSeconds(CLOCK_MONOTONIC) - start;
    measured_.loop_cpu = cpuSeconds(CLOCK_THREAD_CPUTIME_ID) - loop_cpu;
    measured_.process_cpu = cpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - process_cpu;
    return measured_;
  }
  void add(std::unique_ptr<db::Wire> wire) {
    runners_.push_back(std::make_unique<Runner>(*this, std::move(wire)));
  }
  size_t size() const { return runners_.size(); }

  event::Loop& loop_;
  std::vector<std::unique_ptr<Runner>> runners_;
  Measured measured_;
  bool many_ = false;
  size_t running_ = 0;
  double stop_at_ = 0;
  int64_t key_ = 0;
};

db::Statement statementOf(bool many, int64_t key) {
  db::Statement made;
  made.text = many ? db::SqlText("SELECT id, name, price, made, note FROM test.bench WHERE id > ? LIMIT 100")
                   : db::SqlText("SELECT id, name, price, made, note FROM test.bench WHERE id = ?");
  made.values.push_back(db::Value::ofInt(key));
  return made;
}

void Runner::next() {
  bench_.key_ = (bench_.key_ + 7919) % 9'000;
  statement_ = statementOf(bench_.many_, bench_.key_ + 1);
  wire_->execute(statement_);
}

bool Runner::onRow(const db::Row& row) noexcept {
  bench_.measured_.rows += row[0].isNull() ? 0U : 1U;
  return true;
}

void Runner::onResult(const db::Outcome&) noexcept {
  // The clock is asked now and then only.
  const bool over = ++bench_.measured_.statements % 64 == 0 && cpuSeconds(CLOCK_MONOTONIC) >= bench_.stop_at_;
  if (over) bench_.stop_at_ = 0;
  if (bench_.stop_at_ == 0) {
    --bench_.running_;
  } else {
    next();
  }
}

class Opened final : public db::ConnectCall {
 public:
  explicit Opened(Bench& bench) : bench_(bench) {}
  void onConnected(std::unique_ptr<db::Wire> wire) noexcept override { bench_.add(std::move(wire)); }
  void onFailed(const db::Error& error) noexcept override {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    std::exit(1);
  }

 private:
  Bench& bench_;
};

void makeTable(db::Connection& connection) {
  const auto run = [&connection](db::SqlText text) {
    db::Error error;
    if (connection.run(
            {std::move(text), {}}, [](const db::ResultColumns&, const db::Row&) {}, error))
      return;
    std::fprintf(stderr, "%s\n", error.message.c_str());
    std::exit(1);
  };
  run(db::SqlText("CREATE DATABASE IF NOT EXISTS test"));
  run(db::SqlText("USE test"));
  run(
      db::SqlText("CREATE OR REPLACE TABLE test.bench (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, "
                  "price DECIMAL(10,2) NOT NULL, made DATETIME NOT NULL, note VARCHAR(200)) ENGINE=InnoDB"));
  run(db::SqlText(
      "INSERT INTO test.bench SELECT seq, CONCAT('a name of ', seq), seq / 7, '2026-11-20 22:13:05', "
      "IF(seq % 3 = 0, NULL, 'some words beside it') FROM seq_1_to_10000"));
}

Measured runBlocking(const db::Options& options, bool many, double seconds) {
  db::Session session;
  db::Error error;
  if (!db::openSession(options, options.primary, db::SessionUse::kBlocking, session, error)) std::exit(1);
  db::Prepared prepared(session.mysql.get());
  if (!prepared.prepare(statementOf(many, 0).text.view())) std::exit(1);
  Measured measured;
  const double start = cpuSeconds(CLOCK_MONOTONIC);
  const double cpu = cpuSeconds(CLOCK_THREAD_CPUTIME_ID);
  int64_t key = 0;
  while (measured.statements % 64 != 0 || cpuSeconds(CLOCK_MONOTONIC) < start + seconds) {
    key = (key + 7919) % 9'000;
    if (!prepared.execute(statementOf(many, key + 1).values)) std::exit(1);
    while (prepared.fetch() == db::Fetched::kRow) ++measured.rows;
    ++measured.statements;
  }
  measured.seconds = cpuSeconds(CLOCK_MONOTONIC) - start;
  measured.loop_cpu = measured.process_cpu = cpuSeconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: db_bench <socket> [loop|threads] [connections] [seconds]\n");
    return 2;
  }
  db::Options options;
  options.primary.unix_socket = argv[1];
  options.user = "root";
  const bool threads = argc > 2 && std::strcmp(argv[2], "threads") == 0;
  const size_t connections = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 8;
  const double seconds = argc > 4 ? std::strtod(argv[4], nullptr) : 3;

  db::Error error;
  const auto connection = db::Connection::open(options, options.primary, error);
  if (connection == nullptr) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }
  makeTable(*connection);
  auto loop = event::Loop::create(realSys(), 0);
  if (!loop.ok()) return 1;
  const auto factory = db::makeWireFactory(options, threads ? db::Driver::kThreads : db::Driver::kLoop);
  {
    Bench bench(**loop);
    for (size_t i = 0; i < connections; ++i) factory->connect(**loop, 0, std::make_unique<Opened>(bench));
    while (bench.size() < connections) (*loop)->runOnce(-1);
    bench.run(false, seconds / 4);  // prepares, warms up
    print(threads ? "threads, one row" : "loop, one row", bench.run(false, seconds));
    print(threads ? "threads, 100 rows" : "loop, 100 rows", bench.run(true, seconds));
  }
  (*loop)->runOnce(0);
  factory->stop();
  print("waiting, one row", runBlocking(options, false, seconds));
  print("waiting, 100 rows", runBlocking(options, true, seconds));
}
