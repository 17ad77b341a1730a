#include "tools/swarm/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sys.h"
#include "event/loop.h"
#include "net/resolver.h"

namespace roost::swarm {
namespace {

// The addresses of a host name; stops the loop that it waits on.
struct NameWait final : net::ResolveListener {
  explicit NameWait(event::Loop& own_loop) noexcept : loop(own_loop) {}
  void onResolved(const net::Resolution& answer) noexcept override {
    resolution = answer;
    loop.stop();
  }
  event::Loop& loop;
  net::Resolution resolution;
};

std::string ipText(const net::PeerAddr& address) {
  char text[net::PeerAddr::kMaxText];
  return {text, address.formatIp(text)};
}

// The smaller, the better: 127.0.0.0/8 has source addresses for any number of clients.
int rank(const net::PeerAddr& address) noexcept {
  return !isLoopback(address) ? 2 : address.family == AF_INET ? 0 : 1;
}

// An address of a host: one of this machine where it has one. Errors say what is wrong with the name.
Result<net::PeerAddr> lookUp(const std::string& name, bool allow_remote) {
  auto loop = event::Loop::create(realSys(), 0);
  if (!loop.ok()) return loop.status();
  auto resolver = net::Resolver::create(**loop, {});
  if (!resolver.ok()) return resolver.status();
  NameWait wait(**loop);
  if (const net::Resolution* known = (*resolver)->find(name)) {
    wait.resolution = *known;
  } else {
    (*resolver)->resolve(name, wait);
    (*loop)->run();
  }
  const net::Resolution& found = wait.resolution;
  if (found.error != net::ResolveError::kNone)
    return Status::error(fmt::format("{}: {}", name, net::resolveErrorText(found.error)));
  const net::PeerAddr best =
      *std::min_element(found.addresses.begin(), found.addresses.end(),
                        [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (!isLoopback(best) && !allow_remote) {
    return Status::error(notThisMachine(fmt::format("{} ({})", name, ipText(best))));
  }
  return best;
}

}  // namespace

bool isLoopback(const net::PeerAddr& peer) noexcept {
  if (peer.family == AF_INET) return peer.ip[0] == 127;
  constexpr uint8_t kOne[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return peer.family == AF_INET6 && std::equal(std::begin(kOne), std::end(kOne), std::begin(peer.ip));
}

bool isHostName(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

std::string notThisMachine(const std::string& who) {
  return fmt::format(
      "{} is not this machine: --allow-remote permits to load others, which may take it for an attack", who);
}

Status resolveTargets(Scenario& scenario, bool allow_remote) {
  if (scenario.target.family() == AF_UNSPEC) {
    auto address = lookUp(scenario.host_name, allow_remote);
    if (!address.ok()) return Status::error("url: " + address.status().message());
    address->port = static_cast<uint16_t>(scenario.port);
    scenario.target = net::SocketAddress(*address);
    scenario.loopback = isLoopback(*address);
  }
  const std::string& host = scenario.publish.origin.host;
  if (!scenario.publishes() || host == scenario.host_name) return {};
  const auto publisher = lookUp(host, allow_remote);
  return publisher.ok() ? Status() : Status::error("publish_url: " + publisher.status().message());
}

}  // namespace roost::swarm
