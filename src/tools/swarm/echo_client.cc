#include "tools/swarm/echo_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/swarm/worker.h"

namespace roost::swarm {

void EchoClient::ask() noexcept {
  received_ = 0;
  send(worker().plan().payload.message(runIndex(), asked()));
}

void EchoClient::onRead(net::Connection&, net::Chunk& in) noexcept {
  worker().stats().bytes_in.add(in.size());
  if (state() != State::kWaiting) {
    fail(ErrorKind::kBody, fmt::format("{} bytes more than were sent", in.size()));
    return;
  }
  const std::string_view wanted = worker().plan().payload.message(runIndex(), asked() - 1);
  const size_t size = std::min(in.size(), wanted.size() - received_);
  if (std::memcmp(in.data(), wanted.data() + received_, size) != 0) {
    fail(ErrorKind::kBody, fmt::format("message {} came back changed", asked() - 1));
    return;
  }
  received_ += size;
  const size_t more = in.size() - size;
  in.consume(in.size());
  if (received_ < wanted.size()) return;
  if (more > 0) {
    fail(ErrorKind::kBody, fmt::format("{} bytes more than were sent", more));
    return;
  }
  answered();
}

}  // namespace roost::swarm
