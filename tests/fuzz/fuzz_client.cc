// links: roost_http roost_sim
// The HTTP client: whatever a server sends and whenever it stops, each call ends once, nothing is left
// behind, and the loop does not spin. The first bytes say how the rest is cut, whether the server ends or
// resets the connection, and what is asked.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/client/client.h"
#include "net/resolver.h"
#include "support/fuzz_require.h"
#include "support/sim_loop.h"
#include "support/sim_server.h"

namespace {

using roost::test::require;
using namespace roost::http::client;

// What the first two bytes choose.
struct Plan {
  size_t step;
  bool resets, ends, head, posts, streams, redirects, pauses, cancels;
};

Plan planOf(const uint8_t* data) {
  const unsigned bits = data[1];
  return {size_t{data[0]} + 1, (bits & 1) != 0,  (bits & 2) != 0,  (bits & 4) != 0,  (bits & 8) != 0,
          (bits & 16) != 0,    (bits & 32) != 0, (bits & 64) != 0, (bits & 128) != 0};
}

class Listener final : public ResponseListener {
 public:
  explicit Listener(const Plan& plan) : plan_(plan) {}
  int ends = 0;
  bool cancelled = false;
  bool paused = false;
  void onHead(Call& call, const ReceivedHead& head,
              const roost::http::h1::ResponseFraming&) noexcept override {
    require(head.status >= 200 || head.status == 101, "interim heads come as such");
    require(ends == 0 && !cancelled, "nothing comes after the end");
    require(!seen_head_, "one head");
    seen_head_ = true;
    if (plan_.pauses) pause(call);
  }
  void onBody(Call& call, std::string_view piece) noexcept override {
    require(!piece.empty() && seen_head_ && ends == 0 && !cancelled, "content comes between head and end");
    require(!plan_.head, "an answer to HEAD has none");
    if (plan_.cancels) {
      cancelled = true;
      call.cancel();
    } else if (plan_.pauses) {
      pause(call);
    }
  }
  void onEnd() noexcept override { ++ends; }
  void onFailure(const ClientFailure& failure) noexcept override {
    require(failure.error != ClientError::kNone, "a failure says why");
    ++ends;
  }

 private:
  void pause(Call& call) {
    paused = true;
    call.pause();
  }
  const Plan plan_;
  bool seen_head_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 4096) return 0;
  const Plan plan = planOf(data);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  roost::test::SimLoop net;
  roost::test::SimServer server(net.sys, "127.0.0.1", 80);
  roost::net::Resolver::Options names;
  names.hosts_path = "";
  static const auto resolver_loop = std::move(roost::event::Loop::create(roost::realSys(), 0)).value();
  static const auto resolver = std::move(roost::net::Resolver::create(*resolver_loop, names)).value();
  ClientOptions options;
  options.head_limits.max_head_bytes = 1024;
  options.max_interim = 4;
  auto client = std::make_unique<Client>(net.io(), *resolver, options);
  Listener listener(plan);
  Request request;
  if (plan.head) request.method = "HEAD";
  if (plan.posts && !plan.head) request.method = "POST";
  if (plan.posts) request.body = roost::BufferRef::copyOf("content");
  request.max_redirects = plan.redirects ? 3 : 0;
  request.timeouts = {1000, 1000, 1000, 3000};
  Origin origin;
  origin.host = "127.0.0.1";
  const CallName name = client->start(origin, request, listener).name();
  require(net.settle(), "the loop comes to rest");
  size_t at = 0;
  for (int fd = server.accept(); fd >= 0; fd = server.accept()) {
    for (; at < bytes.size(); at += plan.step) {
      server.read(fd);
      server.write(fd, bytes.substr(at, plan.step));
      require(net.settle(), "the loop comes to rest");
      Call* const call = client->find(name);
      if (call != nullptr && listener.paused) {
        listener.paused = false;
        call->resume();
      }
    }
    if (plan.resets) server.reset(fd);
    if (!plan.resets && plan.ends) server.close(fd);
    require(net.settle(), "the loop comes to rest");
  }
  require(net.pass(4000, 500), "the loop comes to rest");
  require(listener.ends == (listener.cancelled ? 0 : 1), "a call ends once");
  require(client->calls() == 0, "no call is left");
  require(net.pass(70'000, 5000), "the loop comes to rest");
  // But those of names, which nobody here resolves: a redirect may lead to one.
  require(client->stats().connections == client->stats().connecting, "no connection is left");
  client.reset();
  return 0;
}
