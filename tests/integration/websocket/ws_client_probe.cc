// links: roost_http
// Our WebSocket client against somebody else's server.
//
//   ws_client_probe echo URL [option=value]...   sends messages of every kind to an echo server, and checks
//   the echoes ws_client_probe suite URL AGENT [option=...]  runs the cases of a server in Autobahn's fuzzing
//   mode, and echoes ws_client_probe refuse URL                    prints why there is no WebSocket
//
// Options: compress=0|1, server_context=0|1, client_context=0|1, server_bits=8..15, client_bits=8..15,
// max_bytes=N (of the largest message), subprotocol=NAME. Exits with 0 where all was as it should be.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sys.h"
#include "event/loop.h"
#include "http/client/client.h"
#include "http/ws/connector.h"
#include "http/ws/socket.h"
#include "net/io_context.h"
#include "net/resolver.h"

namespace {

using namespace roost;
using http::ws::Opcode;
using http::ws::Socket;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "ws_client_probe: %s\n", why.c_str());
  std::exit(1);
}

// What one connection is for.
class Purpose {
 public:
  virtual ~Purpose() = default;
  virtual void onOpen(Socket&) {}
  virtual void onMessage(Socket& socket, http::ws::Message& message) = 0;
  virtual void onWritable(Socket&) {}
  virtual void onClose(uint16_t code, std::string_view reason) = 0;
};

class Handler final : public http::ws::SocketHandler {
 public:
  explicit Handler(Purpose*& purpose) : purpose_(purpose) {}
  void onOpen(Socket& socket) const noexcept override { purpose_->onOpen(socket); }
  void onMessage(Socket& socket, http::ws::Message& message) const noexcept override {
    purpose_->onMessage(socket, message);
  }
  void onWritable(Socket& socket) const noexcept override { purpose_->onWritable(socket); }
  void onClose(Socket&, uint16_t code, std::string_view reason) const noexcept override {
    purpose_->onClose(code, reason);
  }

 private:
  Purpose*& purpose_;
};

// Messages of every kind, one after the other.
class EchoCheck final : public Purpose {
 public:
  explicit EchoCheck(size_t max_bytes) {
    for (const size_t size : {0UL, 1UL, 2UL, 20UL, 125UL, 126UL, 127UL, 1000UL, 4096UL, 65535UL, 65536UL,
                              300000UL, 1000000UL, 16000000UL}) {
      if (size > max_bytes) break;
      for (const Opcode opcode : {Opcode::kText, Opcode::kBinary}) {
        for (const size_t parts : {1UL, 2UL, 7UL}) plans_.push_back({opcode, size, parts});
      }
    }
  }
  void onOpen(Socket& socket) override { sendNext(socket); }
  void onMessage(Socket& socket, http::ws::Message& message) override {
    const Plan& plan = plans_[next_ - 1];
    if (message.opcode() != plan.opcode || message.view() != expected_) {
      die("another echo for " + std::to_string(plan.size) + " bytes in " + std::to_string(plan.parts));
    }
    if (next_ < plans_.size()) return sendNext(socket);
    socket.close(http::ws::kNormal, "done");
  }
  void onClose(uint16_t code, std::string_view) override {
    if (next_ < plans_.size()) die("closed with " + std::to_string(code) + " after " + std::to_string(next_));
    if (code != http::ws::kNormal) die("closed with " + std::to_string(code));
    std::printf("%zu messages echoed\n", plans_.size());
    done = true;
  }
  bool done = false;

 private:
  struct Plan {
    Opcode opcode;
    size_t size;
    size_t parts;
  };
  void sendNext(Socket& socket) {
    const Plan& plan = plans_[next_++];
    expected_.clear();
    // Half of it compresses well.
    while (expected_.size() < plan.size) {
      if (plan.opcode == Opcode::kText) {
        expected_ += random_() % 2 == 0 ? "the same words again; "
                                        : "\xc3\xa4\xe2\x82\xac" + std::to_string(random_());
      } else {
        expected_ += std::string(random_() % 50, static_cast<char>(random_()));
        expected_ += static_cast<char>(random_());
      }
    }
    expected_.resize(plan.size);
    if (plan.opcode == Opcode::kText) {  // nothing cut off at its end
      while (!expected_.empty() && static_cast<unsigned char>(expected_.back()) >= 0x80) expected_.pop_back();
      expected_.resize(plan.size, '.');
    }
    if (plan.parts == 1) {
      socket.send(plan.opcode, expected_);
      return;
    }
    const size_t part = expected_.size() / plan.parts;
    for (size_t i = 0; i < plan.parts; ++i) {
      const bool last = i + 1 == plan.parts;
      socket.sendPart(plan.opcode,
                      std::string_view(expected_).substr(i * part, last ? std::string::npos : part), i == 0,
                      last);
    }
  }

  std::vector<Plan> plans_;
  size_t next_ = 0;
  std::string expected_;
  std::mt19937 random_{5};
};

// Sends everything back, and remembers the last text.
class Echo final : public Purpose {
 public:
  void onMessage(Socket& socket, http::ws::Message& message) override {
    if (message.isText() && message.size() < 100) text = std::string(message.view());
    if (answers) socket.sendBack(message);
  }
  void onClose(uint16_t, std::string_view) override { done = true; }
  std::string text;
  bool answers = true;
  bool done = false;
};

struct Probe final : http::ws::OpenListener {
  explicit Probe(http::ws::EndpointOptions options)
      : loop(std::move(event::Loop::create(realSys(), 0)).value()),
        resolver(std::move(net::Resolver::create(*loop, {})).value()),
        io(std::make_unique<net::IoContext>(*loop)),
        client(std::make_unique<http::client::Client>(*io, *resolver)),
        connector(std::make_unique<http::ws::Connector>(*client, *this)),
        endpoint(http::ws::Endpoint::make(std::move(options), std::make_unique<Handler>(purpose))) {}
  ~Probe() {
    connector.reset();
    client.reset();
    io.reset();
  }
  void onOpened(Socket&, std::string_view subprotocol) noexcept override {
    if (!subprotocol.empty())
      std::printf("subprotocol %.*s\n", static_cast<int>(subprotocol.size()), subprotocol.data());
  }
  void onRefused(const http::ws::OpenFailure& failure) noexcept override { refused = failure.toString(); }

  // Opens and runs until it is closed, or refused.
  void run(const std::string& url, Purpose& what, const bool& done) {
    const Result<http::client::Url> parsed = http::ws::Connector::parse(url);
    if (!parsed.ok()) die(parsed.status().message());
    purpose = &what;
    connector->open(parsed.value(), endpoint, {});
    while (!done && refused.empty()) loop->runOnce(-1);
    loop->runOnce(0);
  }

  Purpose* purpose = nullptr;
  std::string refused;
  std::unique_ptr<event::Loop> loop;
  std::unique_ptr<net::Resolver> resolver;
  std::unique_ptr<net::IoContext> io;
  std::unique_ptr<http::client::Client> client;
  std::unique_ptr<http::ws::Connector> connector;
  http::ws::Endpoint::Ref endpoint;
};

void runEcho(Probe& probe, const std::string& url, size_t max_bytes) {
  EchoCheck check(max_bytes);
  probe.run(url, check, check.done);
  if (!check.done) die("refused: " + probe.refused);
}

void runSuite(Probe& probe, const std::string& url, const std::string& agent) {
  Echo count;
  count.answers = false;
  probe.run(url + "/getCaseCount", count, count.done);
  if (!probe.refused.empty()) die("refused: " + probe.refused);
  const int cases = std::atoi(count.text.c_str());
  std::printf("%d cases\n", cases);
  for (int i = 1; i <= cases; ++i) {
    Echo echo;
    probe.refused.clear();
    probe.run(url + "/runCase?case=" + std::to_string(i) + "&agent=" + agent, echo, echo.done);
    if (!probe.refused.empty()) std::printf("case %d: %s\n", i, probe.refused.c_str());
  }
  Echo report;
  probe.refused.clear();
  probe.run(url + "/updateReports?agent=" + agent, report, report.done);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc < 3) die("what is to be done, and the URL?");
  http::ws::EndpointOptions options;
  options.role = http::ws::Role::kClient;
  options.max_frame_bytes = options.max_message_bytes = options.max_queued_bytes = 64 << 20;
  options.compression.min_message_bytes = 1;
  size_t max_bytes = 1 << 20;
  const std::string what = argv[1];
  for (int i = what == "suite" ? 4 : 3; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr) die("option=value, please");
    const std::string name(argv[i], static_cast<size_t>(equals - argv[i]));
    const int number = std::atoi(equals + 1);
    if (name == "compress") options.compression.on = number != 0;
    if (name == "server_context") options.compression.server_no_context_takeover = number == 0;
    if (name == "client_context") options.compression.client_no_context_takeover = number == 0;
    if (name == "server_bits") options.compression.server_max_window_bits = static_cast<uint8_t>(number);
    if (name == "client_bits") options.compression.client_max_window_bits = static_cast<uint8_t>(number);
    if (name == "max_bytes") max_bytes = static_cast<size_t>(number);
    if (name == "subprotocol") options.subprotocols.emplace_back(equals + 1);
  }
  Probe probe(options);
  if (what == "echo") runEcho(probe, argv[2], max_bytes);
  if (what == "suite") runSuite(probe, argv[2], argc > 3 ? argv[3] : "roost");
  if (what == "refuse") {
    Echo echo;
    probe.run(argv[2], echo, echo.done);
    std::printf("%s\n", probe.refused.c_str());
  }
  return 0;
}
