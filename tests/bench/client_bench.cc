// links: roost_http
// What a request by http::client::Client costs: requests per second and processor time per request, over kept
// connections.
//
//   client_bench URL [connections] [requests]
//
// Beside it: wrk -t1 -c<connections> URL, whose processor time `time` tells.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "http/client/client.h"
#include "net/resolver.h"

namespace {

using namespace roost;
using namespace roost::http::client;

struct Run {
  event::Loop& loop;
  Client& client;
  Origin origin;
  Request request;
  size_t to_start;
  size_t to_end;
  size_t failures = 0;
  uint64_t body_bytes = 0;
};

// Asks again as soon as it has been answered.
class Asker final : public ResponseListener {
 public:
  explicit Asker(Run& run) : run_(run) {}
  void ask() {
    if (run_.to_start == 0) return;
    --run_.to_start;
    run_.client.start(run_.origin, run_.request, *this);
  }
  void onHead(Call&, const ReceivedHead& head, const http::h1::ResponseFraming&) noexcept override {
    if (head.status != 200) ++run_.failures;
  }
  void onBody(Call&, std::string_view piece) noexcept override { run_.body_bytes += piece.size(); }
  void onEnd() noexcept override {
    if (--run_.to_end == 0) run_.loop.stop();
    ask();
  }
  void onFailure(const ClientFailure& failure) noexcept override {
    if (run_.failures++ == 0) std::fprintf(stderr, "%s\n", failure.toString().c_str());
    onEnd();
  }

 private:
  Run& run_;
};

double processorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Url> url = parseUrl(argc > 1 ? argv[1] : "");
  if (!url.ok()) {
    std::fprintf(stderr, "usage: %s URL [connections] [requests]\n%s\n", argv[0],
                 url.status().message().c_str());
    return 2;
  }
  const size_t connections = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 50;
  const size_t requests = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 200'000;
  const Result<std::unique_ptr<event::Loop>> loop = event::Loop::create(realSys(), 0);
  net::IoContext io(*loop.value());
  const Result<std::unique_ptr<net::Resolver>> resolver = net::Resolver::create(*loop.value(), {});
  ClientOptions options;
  options.max_per_origin = options.max_idle_per_origin = static_cast<uint32_t>(connections);
  Client client(io, *resolver.value(), options);
  Run run{*loop.value(), client, url.value().origin, {}, requests, requests};
  run.request.target = url.value().target;
  std::vector<std::unique_ptr<Asker>> askers;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < connections; ++i) {
    askers.push_back(std::make_unique<Asker>(run));
    askers.back()->ask();
  }
  loop.value()->run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto count = static_cast<double>(requests);
  std::printf("%zu requests over %zu connections, %zu failures, %.1f MB: %.0f/s, %.2f us of processor each\n",
              requests, connections, run.failures, static_cast<double>(run.body_bytes) / 1e6,
              count / took.count(), processorSeconds() / count * 1e6);
  return run.failures == 0 ? 0 : 1;
}
