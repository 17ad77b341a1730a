// The part of a Worker that opens connections and deals with their end.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "tools/swarm/worker.h"

namespace roost::swarm {

void Worker::openMore(int64_t now_ns) noexcept {
  if (now_ns < connect_from_ns_ || now_ns >= measure_to_ns_) return;
  uint64_t due = clients_.size();
  if (scenario().connect_rate > 0) {
    const double own = scenario().connect_rate * static_cast<double>(clients_.size()) / scenario().clients;
    const double passed_s = static_cast<double>(now_ns - connect_from_ns_) / 1e9;
    due = std::min(due, static_cast<uint64_t>(passed_s * own) + 1);
  }
  while (opened_ < due && connecting_ < kMostConnecting) open(*clients_[opened_++]);
}

void Worker::open(Client& client) noexcept {
  stats_.attempts.add();
  client.state_ = Client::State::kConnecting;
  client.ends_well_ = false;
  client.was_asked_ = false;
  client.due_ns_ = clockNs();
  ++connecting_;
  const auto& sources = plan_.sources;
  const net::SocketAddress* local =
      sources.empty() ? nullptr : &sources[runIndex(client.own_index_) % sources.size()];
  const Status status = context_->connect(scenario().target, client, local);
  if (status.ok()) return;
  const int error = status.sysErrno();
  count(error == EMFILE || error == ENFILE              ? ErrorKind::kNoDescriptor
        : error == EADDRNOTAVAIL || error == EADDRINUSE ? ErrorKind::kNoPort
                                                        : ErrorKind::kConnectFailed,
        client, status.message());
  onClosed(client);
}

void Worker::settle(Client& client) noexcept {
  if (client.settled_) return;
  client.settled_ = true;
  stats_.settled.add();
}

void Worker::onReady(Client& client) noexcept {
  const int64_t now = clockNs();
  --connecting_;
  stats_.connected.add();
  stats_.open.add();
  stats_.connect.record(static_cast<uint64_t>(std::max<int64_t>(now - client.due_ns_, 0)));
  if (!client.settled_) stats_.last_connect_ns = now;
  client.state_ = Client::State::kIdle;
  client.sent_ns_ = now;
  // One deadline after the other stands for all requests: when it passes, the newest one decides (onTimeout).
  if (scenario().listens()) {
    client.connection_->clearDeadline();
  } else {
    client.connection_->setDeadline(scenario().timeout_ms);
  }
  settle(client);
  if (scenario().requests_per_client > 0 && client.asked_ >= scenario().requests_per_client) {
    client.state_ = Client::State::kDone;  // was done before its connection was lost
  } else if (loading_ || scenario().asksAtOnce()) {
    goOn(client, now);
  }
}

// A connection is gone, or could not be begun.
void Worker::onClosed(Client& client) noexcept {
  if (client.state_ == Client::State::kConnecting) {
    --connecting_;
  } else {
    stats_.open.sub();
  }
  if (client.state_ == Client::State::kWaiting) {
    if (client.owed() > 1) onInVain(client, client.owed() - 1);  // the first of them is an error already
    stats_.waiting.sub();
  }
  const bool was_done = client.state_ == Client::State::kDone;
  client.state_ = Client::State::kAway;
  settle(client);
  if (closing_ || was_done || !scenario().reconnect || clockNs() >= measure_to_ns_) return;
  if (client.ends_well_) stats_.reopened.add();
  const int64_t delay = client.ends_well_ ? 0 : scenario().reconnect_delay_ns;
  const Later later{clockNs() + delay, &client};
  // Those that come back at once go first; the others all wait for the same time.
  if (delay == 0) {
    away_.push_front(later);
  } else {
    away_.push_back(later);
  }
  wakeBy(later.due_ns);
}

void Worker::retry(int64_t now_ns) noexcept {
  size_t most = away_.size();  // those that fail at once come at the end again
  while (most-- > 0 && !away_.empty() && away_.front().due_ns <= now_ns) {
    Client& client = *away_.front().client;
    away_.pop_front();
    if (now_ns < measure_to_ns_) open(client);
  }
}

void Worker::onTimeout(Client& client) noexcept {
  if (client.state_ == Client::State::kConnecting) {
    count(ErrorKind::kConnectTimeout, client, fmt::format("{} ms", scenario().connect_timeout_ms));
    client.connection_->close();
    return;
  }
  const int64_t whole = int64_t{scenario().timeout_ms} * 1'000'000;
  if (client.state_ == Client::State::kLeaving) {  // the server takes its time: it is not waited for
    client.connection_->close();
    return;
  }
  const bool waits = client.state_ == Client::State::kWaiting;
  const int64_t left = waits ? client.sent_ns_ + whole - clockNs() : whole;
  if (left > 0) {
    client.connection_->setDeadline(static_cast<uint32_t>(left / 1'000'000 + 1));
    return;
  }
  count(ErrorKind::kTimeout, client,
        fmt::format("request {} has no answer after {} ms", client.asked_ - 1, scenario().timeout_ms));
  client.connection_->close();
}

}  // namespace roost::swarm
