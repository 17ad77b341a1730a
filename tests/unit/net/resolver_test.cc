#include "net/resolver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "support/sim_loop.h"
#include "support/temp_file.h"

namespace roost::net {
namespace {

// What the server below knows of a name.
struct Record {
  std::vector<std::string> v4, v6;
  uint32_t ttl_s = 60;
  int rcode = 0;
  bool silent = false;
  bool truncated = false;
};

void put16(std::string& out, unsigned value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

// A name server on 127.0.0.1 with a thread of its own: what it is asked over UDP it answers from a table;
// over TCP too, which it is asked for what it has truncated.
class DnsServer {
 public:
  std::map<std::string, Record> records;
  std::atomic<int> asked{0};
  std::atomic<int> asked_by_tcp{0};

  DnsServer() {
    tcp_ = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    REQUIRE(::bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), len) == 0);
    REQUIRE(::listen(tcp_.get(), 8) == 0);
    ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &len);
    port_ = ntohs(address.sin_port);
    udp_ = UniqueFd(::socket(AF_INET, SOCK_DGRAM, 0));
    REQUIRE(::bind(udp_.get(), reinterpret_cast<sockaddr*>(&address), len) == 0);
  }
  ~DnsServer() {
    ::shutdown(udp_.get(), SHUT_RDWR);
    ::shutdown(tcp_.get(), SHUT_RDWR);
    for (std::thread& thread : threads_) thread.join();
  }
  void run() {
    threads_.emplace_back([this] { serveUdp(); });
    threads_.emplace_back([this] { serveTcp(); });
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void serveUdp() {
    char query[512];
    for (;;) {
      sockaddr_in from{};
      socklen_t len = sizeof from;
      const ssize_t n =
          ::recvfrom(udp_.get(), query, sizeof query, 0, reinterpret_cast<sockaddr*>(&from), &len);
      if (n < 12) return;
      const std::string reply = answer({query, static_cast<size_t>(n)}, false);
      if (!reply.empty()) {
        ::sendto(udp_.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), len);
      }
    }
  }
  void serveTcp() {
    for (;;) {
      const UniqueFd fd(::accept(tcp_.get(), nullptr, nullptr));
      if (fd.get() < 0) return;
      std::string text;
      char piece[512];
      while (text.size() < 2 || text.size() < 2U + static_cast<unsigned char>(text[1])) {
        const ssize_t n = ::recv(fd.get(), piece, sizeof piece, 0);
        if (n <= 0) break;
        text.append(piece, static_cast<size_t>(n));
      }
      if (text.size() < 14) continue;
      ++asked_by_tcp;
      const std::string reply = answer(text.substr(2), true);
      std::string framed;
      put16(framed, static_cast<unsigned>(reply.size()));
      framed += reply;
      if (::send(fd.get(), framed.data(), framed.size(), MSG_NOSIGNAL) < 0) return;
    }
  }
  std::string answer(std::string_view query, bool tcp) {
    std::string name;
    size_t at = 12;
    while (at < query.size() && query[at] != 0) {
      const auto size = static_cast<size_t>(query[at]);
      name += (name.empty() ? "" : ".") + std::string(query.substr(at + 1, size));
      at += size + 1;
    }
    const int type = query[at + 2];
    const std::string_view question = query.substr(12, at + 5 - 12);
    if (type == 1) ++asked;
    Record record;
    record.rcode = 3;
    const auto found = records.find(name);
    if (found != records.end()) record = found->second;
    if (record.silent) return "";
    const bool cut = record.truncated && !tcp;
    const auto& addresses = type == 1 ? record.v4 : record.v6;
    std::string out(query.substr(0, 2));
    put16(out, 0x8180U | (cut ? 0x0200U : 0U) | static_cast<unsigned>(record.rcode));
    put16(out, 1);
    put16(out, cut ? 0 : static_cast<unsigned>(addresses.size()));
    put16(out, 0);
    put16(out, 0);
    out += question;
    for (const std::string& address : addresses) {
      if (cut) break;
      put16(out, 0xc00c);
      put16(out, static_cast<unsigned>(type));
      put16(out, 1);
      put16(out, record.ttl_s >> 16);
      put16(out, record.ttl_s & 0xffff);
      char bytes[16];
      ::inet_pton(type == 1 ? AF_INET : AF_INET6, address.c_str(), bytes);
      put16(out, type == 1 ? 4 : 16);
      out.append(bytes, type == 1 ? 4 : 16);
    }
    return out;
  }

  UniqueFd tcp_;
  UniqueFd udp_;
  uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

class Waiter final : public ResolveListener {
 public:
  std::string log;
  std::function<void()> then;
  void onResolved(const Resolution& resolution) noexcept override {
    log += resolveErrorText(resolution.error);
    for (const PeerAddr& address : resolution.addresses) log += " " + address.toString();
    log += ";";
    if (then) then();
  }
};

// The loop's clock is simulated, and with it how long answers are kept; sockets and c-ares' own timeouts are
// real. So the loop is simulated and what is real in it goes through a poller of its own.
struct Fixture {
  explicit Fixture(Resolver::Options options = {}) {
    loop = std::move(event::Loop::create(realSys(), 0)).value();
    options.servers = server.address();
    if (options.hosts_path == "/etc/hosts") options.hosts_path = "";
    resolver = std::move(Resolver::create(*loop, options)).value();
  }
  // Asks, and runs the loop until there is an answer.
  std::string ask(std::string_view name) {
    Waiter waiter;
    if (const Resolution* known = resolver->find(name)) {
      waiter.onResolved(*known);
      return "known: " + waiter.log;
    }
    resolver->resolve(name, waiter);
    CHECK(waiter.log.empty());
    wait([&] { return !waiter.log.empty(); });
    return waiter.log;
  }
  void wait(const std::function<bool()>& done) {
    for (int i = 0; i < 2000 && !done(); ++i) loop->runOnce(20);
    REQUIRE(done());
  }
  DnsServer server;
  std::unique_ptr<event::Loop> loop;
  std::unique_ptr<Resolver> resolver;
};

TEST_CASE("resolver: names become addresses, and are kept") {
  Fixture f;
  f.server.records["both.test"] = {{"192.0.2.1", "192.0.2.2"}, {"2001:db8::1"}};
  f.server.records["four.test"] = {{"192.0.2.3"}, {}};
  f.server.records["cut.test"] = {{"192.0.2.4"}, {}, 60, 0, false, true};
  f.server.run();
  CHECK(f.ask("both.test") == "resolved [2001:db8::1]:0 192.0.2.1:0 192.0.2.2:0;");
  CHECK(f.ask("BOTH.test.") == "known: resolved [2001:db8::1]:0 192.0.2.1:0 192.0.2.2:0;");
  CHECK(f.ask("four.test") == "resolved 192.0.2.3:0;");
  CHECK(f.ask("cut.test") == "resolved 192.0.2.4:0;");
  CHECK(f.server.asked_by_tcp > 0);
  CHECK(f.resolver->stats().queries == 3);
  CHECK(f.resolver->stats().hits == 1);
}

TEST_CASE("resolver: what there is not is told, and kept for a while") {
  Fixture f;
  f.server.records["empty.test"] = {};
  f.server.records["fails.test"] = {{}, {}, 60, 2};
  f.server.run();
  CHECK(f.ask("none.test") == "no such host;");
  CHECK(f.ask("none.test") == "known: no such host;");
  CHECK(f.ask("empty.test") == "no such host;");
  CHECK(f.ask("fails.test") == "the name servers failed;");
  CHECK(f.resolver->stats().failures == 3);
}

TEST_CASE("resolver: how long an answer is kept is the record's to say, within bounds") {
  Resolver::Options options;
  options.min_ttl_s = 0;
  options.no_name_ttl_s = 0;
  SECTION("no time at all") {}
  SECTION("at most") {
    options.max_ttl_s = 0;
  }
  SECTION("at least") {
    options.min_ttl_s = 3600;
  }
  const bool keeps = options.min_ttl_s != 0;
  const bool cuts = options.max_ttl_s == 0;
  Fixture f(options);
  f.server.records["short.test"] = {{"192.0.2.1"}, {}, 0};
  f.server.records["long.test"] = {{"192.0.2.2"}, {}, 3600};
  f.server.run();
  for (int i = 0; i < 2; ++i) {
    const bool again = i == 1;
    CHECK(f.ask("short.test") == (again && keeps ? "known: resolved 192.0.2.1:0;" : "resolved 192.0.2.1:0;"));
    CHECK(f.ask("long.test") == (again && !cuts ? "known: resolved 192.0.2.2:0;" : "resolved 192.0.2.2:0;"));
    CHECK(f.ask("none.test") == "no such host;");
  }
}

TEST_CASE("resolver: no more names are kept than allowed") {
  Resolver::Options options;
  options.max_names = 2;
  Fixture f(options);
  f.server.records["a.test"] = {{"192.0.2.1"}, {}, 100};
  f.server.records["b.test"] = {{"192.0.2.2"}, {}, 50};
  f.server.records["c.test"] = {{"192.0.2.3"}, {}, 200};
  f.server.run();
  for (const char* name : {"a.test", "b.test", "c.test"}) f.ask(name);
  CHECK(f.resolver->find("a.test") != nullptr);
  CHECK(f.resolver->find("b.test") == nullptr);  // would have expired first
  CHECK(f.resolver->find("c.test") != nullptr);
}

TEST_CASE("resolver: silence has an end") {
  Resolver::Options options;
  options.timeout_ms = 50;
  options.tries = 2;
  Fixture f(options);
  f.server.records["silent.test"] = {{}, {}, 60, 0, true};
  f.server.run();
  CHECK(f.ask("silent.test") == "no answer from the name servers;");
  f.wait([&] { return f.server.asked == 2; });  // it may see the second a little later
}

TEST_CASE("resolver: addresses, localhost and the hosts file are never asked for") {
  const UniqueFd hosts(
      test::tempFile("# comment\n192.0.2.9 Inner.test inner # more\n::1 inner\nnonsense inner\n"));
  Resolver::Options options;
  options.hosts_path = "/proc/self/fd/" + std::to_string(hosts.get());
  Fixture f(options);
  CHECK(f.ask("192.0.2.1") == "known: resolved 192.0.2.1:0;");
  CHECK(f.ask("[2001:db8::1]") == "known: resolved [2001:db8::1]:0;");
  CHECK(f.ask("2001:db8::1") == "known: resolved [2001:db8::1]:0;");
  CHECK(f.ask("inner.TEST") == "known: resolved 192.0.2.9:0;");
  CHECK(f.ask("inner") == "known: resolved 192.0.2.9:0 [::1]:0;");
  for (const char* own : {"localhost", "LocalHost.", "app.localhost", "a.b.localhost"})
    CHECK(f.ask(own) == "known: resolved 127.0.0.1:0 [::1]:0;");
  for (const char* bad : {"", ".", "a..b", "a b", "-/-", ".a"})
    CHECK(f.ask(bad) == "known: not a host name;");
  CHECK(f.ask(std::string(64, 'a')) == "known: not a host name;");
  CHECK(f.ask(std::string(300, 'a')) == "known: not a host name;");
  CHECK(f.server.asked == 0);
}

TEST_CASE("resolver: several who ask for one name ask once, and may change their minds") {
  Resolver::Options options;
  options.max_queries = 1;
  Fixture f(options);
  f.server.records["a.test"] = {{"192.0.2.1"}, {}};
  f.server.run();
  Waiter first;
  Waiter second;
  Waiter gone;
  Waiter other;
  REQUIRE(f.resolver->find("a.test") == nullptr);
  f.resolver->resolve("a.test", first);
  REQUIRE(f.resolver->find("a.test") == nullptr);
  f.resolver->resolve("a.test", gone);
  f.resolver->resolve("a.test", second);
  f.resolver->resolve("b.test", other);  // one too many
  f.resolver->cancel(gone);
  first.then = [&] { f.resolver->cancel(second); };
  f.wait([&] { return !first.log.empty() && !other.log.empty(); });
  CHECK(first.log == "resolved 192.0.2.1:0;");
  CHECK(second.log.empty());
  CHECK(gone.log.empty());
  CHECK(other.log == "too many names are being asked for;");
  CHECK(f.server.asked == 1);
  CHECK(f.resolver->stats().joined == 2);
}

TEST_CASE("resolver: whoever waits when it ends is told") {
  Fixture f;
  f.server.records["silent.test"] = {{}, {}, 60, 0, true};
  f.server.run();
  Waiter waiter;
  f.resolver->resolve("silent.test", waiter);
  f.resolver.reset();
  CHECK(waiter.log == "stopped;");
}

}  // namespace
}  // namespace roost::net
