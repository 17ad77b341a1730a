// links: roost_db
// A wire of db/ in the hands of a test: one command per line of input, one line of output per event, the last
// of a command begins with a dot.
//
//   db_probe loop|threads option=value...
//
// Options: socket, host, port, user, password, database, connect_ms, statements, tls (off, required,
// verify_ca, verify_name), ca. Commands, and what ends them:
//
//   connect                 .connected ID | .failed KIND NUMBER MESSAGE
//   run TEXT[\tPARAMETER]   .result AFFECTED INSERT_ID ROWS WARNINGS IN_TRANSACTION | .error KIND NUMBER
//   SQLSTATE
//                           before it "columns ...", "row ..."; parameters: i7 u7 d1.5 stext n and z1000 (a
//                           text of that many x)
//   quiet TEXT[\t...]       the same without rows, with the sum of the bytes of their cells: "bytes N"
//   pause N TEXT[\t...]     the same; ".paused" after N rows
//   resume                  goes on, as run
//   kill                    .killed 0|1, of the statement that runs
//   start TEXT[\t...]       .started; what comes is told by the next wait
//   wait                    as run; also .closed when the server has closed the idle connection
//   idle MS                 .idle TURNS, of the loop, CPU_MS of its thread; "closed" before it
//   alive                   .alive 0|1
//   prepares                .prepares N
//   drop                    .dropped
#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/options.h"
#include "db/wire.h"
#include "event/loop.h"
#include "log/log.h"

namespace {

using namespace roost;

const char* nameOf(db::ErrorKind kind) {
  static const char* const names[] = {"statement",  "timeout",       "lost",      "unavailable",
                                      "queue_full", "queue_timeout", "too_large", "shutdown"};
  return names[static_cast<size_t>(kind)];
}

std::string printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    if (c >= ' ' && c < 127 && c != '\\') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string momentText(db::Type type, const db::Cell& cell) {
  const db::Moment m = db::readMoment(type, cell);
  if (type == db::Type::kTime) {
    return fmt::format("{}{:02}:{:02}:{:02}.{:06}", m.negative ? "-" : "", m.hour, m.minute, m.second,
                       m.microsecond);
  }
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}", m.year, m.month, m.day, m.hour, m.minute,
                     m.second, m.microsecond);
}

std::string textOf(db::Type type, const db::Cell& cell) {
  if (cell.isNull()) return "NULL";
  switch (type) {
    case db::Type::kInt:
      return fmt::format("{}", db::readInt(cell));
    case db::Type::kUint:
      return fmt::format("{}", db::readUint(cell));
    case db::Type::kFloat:
      return fmt::format("{}", db::readFloat(cell));
    case db::Type::kDouble:
      return fmt::format("{}", db::readDouble(cell));
    case db::Type::kBit:
      return fmt::format("{}", db::readBit(cell));
    case db::Type::kDate:
    case db::Type::kTime:
    case db::Type::kDateTime:
    case db::Type::kTimestamp:
      return momentText(type, cell);
    default:
      return "'" + printable(cell.view()) + "'";
  }
}

const char* nameOf(db::Type type) {
  static const char* const names[] = {"null",    "int",  "uint",     "float",     "double",
                                      "decimal", "text", "json",     "bytes",     "bit",
                                      "date",    "time", "datetime", "timestamp", "geometry"};
  return names[static_cast<size_t>(type)];
}

db::Value valueOf(const std::string& word) {
  const std::string rest = word.substr(1);
  switch (word[0]) {
    case 'i':
      return db::Value::ofInt(std::stoll(rest));
    case 'u':
      return db::Value::ofUint(std::stoull(rest));
    case 'd':
      return db::Value::ofDouble(std::stod(rest));
    case 's':
      return db::Value::ofText(rest);
    case 'z':
      return db::Value::ofText(std::string(std::stoul(rest), 'x'));
    default:
      return db::Value::null();
  }
}

db::Statement statementOf(const std::string& words) {
  db::Statement made;
  size_t at = words.find('\t');
  made.text = db::SqlText::ofConfiguration(words.substr(0, at));
  while (at != std::string::npos) {
    const size_t next = words.find('\t', at + 1);
    made.values.push_back(valueOf(words.substr(at + 1, next == std::string::npos ? next : next - at - 1)));
    at = next;
  }
  return made;
}

class Probe final : public db::WireListener {
 public:
  Probe(const db::Options& options, db::Driver driver)
      : loop_(std::move(event::Loop::create(realSys(), 0).value())),
        factory_(makeWireFactory(options, driver)) {}
  ~Probe() {
    drop();
    factory_->forget(*loop_);
    factory_->stop();
  }

  void obey(const std::string& line);

  void onColumns(const db::ResultColumns& columns) noexcept override;
  bool onRow(const db::Row& row) noexcept override;
  void onResult(const db::Outcome& outcome) noexcept override;
  void onError(const db::Error& error) noexcept override;
  void onIdleClosed() noexcept override { say("closed"); }

 private:
  struct Opened;
  struct Killed;
  void say(const std::string& event);
  void ending(const std::string& event) {
    ended_ = true;
    say("." + event);
  }
  void connect();
  void execute(const std::string& words);
  void idle(int ms);
  void untilEnded();
  void drop() {
    wire_.reset();
    loop_->runOnce(0);
  }

  std::unique_ptr<event::Loop> loop_;
  std::unique_ptr<db::WireFactory> factory_;
  std::unique_ptr<db::Wire> wire_;
  db::Statement statement_;
  std::vector<db::Type> types_;
  std::vector<std::string> kept_;  // events that nobody has waited for yet
  bool waiting_ = false;
  bool ended_ = true;
  bool quiet_ = false;
  uint64_t bytes_ = 0;
  uint64_t rows_ = 0;
  uint64_t pause_at_ = 0;
};

void Probe::say(const std::string& event) {
  if (waiting_) {
    std::cout << event << std::endl;
  } else {
    kept_.push_back(event);
  }
}

struct Probe::Opened final : db::ConnectCall {
  explicit Opened(Probe& of) : probe(of) {}
  void onConnected(std::unique_ptr<db::Wire> wire) noexcept override {
    probe.wire_ = std::move(wire);
    probe.wire_->setListener(probe);
    probe.ending(fmt::format("connected {}", probe.wire_->threadId()));
  }
  void onFailed(const db::Error& error) noexcept override {
    probe.ending(fmt::format("failed {} {} {}", nameOf(error.kind), error.number, printable(error.message)));
  }
  Probe& probe;
};

struct Probe::Killed final : db::KillCall {
  explicit Killed(bool& which) : done(which) {}
  void onDone(bool killed) noexcept override {
    std::cout << ".killed " << killed << std::endl;
    done = true;
  }
  bool& done;
};

void Probe::onColumns(const db::ResultColumns& columns) noexcept {
  types_.clear();
  std::string line = "columns";
  for (const db::ResultColumn& column : columns) {
    types_.push_back(column.type);
    line += fmt::format(" {}:{}:{}", column.name, nameOf(column.type), column.decimals);
  }
  if (!quiet_) say(line);
}

bool Probe::onRow(const db::Row& row) noexcept {
  ++rows_;
  std::string line = "row";
  for (size_t i = 0; i < row.size(); ++i) {
    bytes_ += row[i].size;
    if (!quiet_) line += " " + textOf(types_[i], row[i]);
  }
  if (!quiet_) say(line);
  if (rows_ != pause_at_) return true;
  ending("paused");
  return false;
}

void Probe::onResult(const db::Outcome& outcome) noexcept {
  if (quiet_) say(fmt::format("bytes {}", bytes_));
  ending(fmt::format("result {} {} {} {} {:d}", outcome.affected_rows, outcome.insert_id, outcome.rows,
                     outcome.warnings, wire_->inTransaction()));
}

void Probe::onError(const db::Error& error) noexcept {
  ending(fmt::format("error {} {} {}", nameOf(error.kind), error.number, error.sqlstate));
}

void Probe::untilEnded() {
  waiting_ = true;
  for (const std::string& event : kept_) std::cout << event << std::endl;
  kept_.clear();
  while (!ended_) loop_->runOnce(-1);
  waiting_ = false;
}

void Probe::execute(const std::string& words) {
  statement_ = statementOf(words);
  bytes_ = rows_ = 0;
  ended_ = false;
  wire_->execute(statement_);
}

void Probe::idle(int ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  timespec before{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  uint64_t turns = 0;
  waiting_ = true;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    loop_->runOnce(static_cast<int>(left.count()));
    ++turns;
  }
  waiting_ = false;
  timespec after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  std::cout << ".idle " << turns << " "
            << (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1'000'000
            << std::endl;
}

void Probe::connect() {
  ended_ = false;
  factory_->connect(*loop_, 0, std::make_unique<Opened>(*this));
  untilEnded();
}

void Probe::obey(const std::string& line) {
  const size_t space = line.find(' ');
  const std::string command = line.substr(0, space);
  std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (command == "run" || command == "quiet" || command == "pause") {
    quiet_ = command != "run";
    pause_at_ = 0;
    if (command == "pause") {
      pause_at_ = std::stoul(rest);
      rest = rest.substr(rest.find(' ') + 1);
    }
    execute(rest);
    untilEnded();
  } else if (command == "start") {
    quiet_ = false;
    pause_at_ = 0;
    execute(rest);
    std::cout << ".started" << std::endl;
  } else if (command == "wait") {
    untilEnded();
  } else if (command == "resume") {
    ended_ = false;
    pause_at_ = 0;
    wire_->resume();
    untilEnded();
  } else if (command == "kill") {
    bool done = false;
    factory_->kill(*loop_, 0, wire_->server(), wire_->threadId(), std::make_unique<Killed>(done));
    while (!done) loop_->runOnce(-1);
  } else if (command == "connect") {
    connect();
  } else if (command == "idle") {
    idle(std::stoi(rest));
  } else if (command == "alive") {
    std::cout << ".alive " << wire_->alive() << std::endl;
  } else if (command == "prepares") {
    std::cout << ".prepares " << wire_->prepares() << std::endl;
  } else if (command == "drop") {
    drop();
    std::cout << ".dropped" << std::endl;
  }
}

db::Options optionsOf(std::map<std::string, std::string> words) {
  db::Options options;
  const auto number = [&words](const char* name, uint32_t otherwise) {
    return words[name].empty() ? otherwise : static_cast<uint32_t>(std::stoul(words[name]));
  };
  options.primary.unix_socket = words["socket"];
  options.primary.host = words["host"];
  options.primary.port = static_cast<uint16_t>(number("port", 0));
  options.user = words["user"];
  options.password = words["password"];
  options.database = words["database"];
  options.connect_timeout_ms = number("connect_ms", options.connect_timeout_ms);
  options.max_statements = number("statements", options.max_statements);
  options.max_connections = number("connections", options.max_connections);
  options.tls.ca_file = words["ca"];
  const std::string tls = words["tls"];
  if (tls == "required") options.tls.mode = db::TlsMode::kRequired;
  if (tls == "verify_ca") options.tls.mode = db::TlsMode::kVerifyCa;
  if (tls == "verify_name") options.tls.mode = db::TlsMode::kVerifyName;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> words;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (argc < 2) return 2;
  log::setLevel(log::Level::kError);  // what stands in stderr is a failure
  Probe probe(optionsOf(words), std::string(argv[1]) == "threads" ? db::Driver::kThreads : db::Driver::kLoop);
  std::string line;
  while (std::getline(std::cin, line)) probe.obey(line);
}
