#include "tools/swarm/publisher.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/ascii.h"

namespace roost::swarm {

using http::client::ClientError;

Publisher::Publisher(const Plan& plan, Control& control, Stats& stats)
    : plan_(plan), control_(control), stats_(stats), fields_("Content-Type: text/plain\r\n") {
  for (const std::string& header : plan.scenario.headers) {
    const size_t colon = header.find(':');
    const std::string_view name = std::string_view(header).substr(0, colon);
    if (http::equalsToken(name, "host")) {
      host_field_ = header.substr(header.find_first_not_of(' ', colon + 1));
    } else {
      fields_ += header + "\r\n";
    }
  }
}

Result<std::unique_ptr<Publisher>> Publisher::create(Sys& sys, const Plan& plan, Control& control,
                                                     Stats& stats) {
  std::unique_ptr<Publisher> publisher(new Publisher(plan, control, stats));
  auto loop = event::Loop::create(sys, plan.threads);
  if (!loop.ok()) return loop.status();
  publisher->loop_ = std::move(loop).value();
  publisher->context_ = std::make_unique<net::IoContext>(*publisher->loop_);
  publisher->context_->setLingerMs(0);
  auto resolver = net::Resolver::create(*publisher->loop_, {});
  if (!resolver.ok()) return resolver.status();
  publisher->resolver_ = std::move(resolver).value();
  publisher->client_ = std::make_unique<http::client::Client>(*publisher->context_, *publisher->resolver_);
  publisher->onTimer();
  return publisher;
}

Publisher::~Publisher() {
  under_way_ = false;  // what is given up now is no error
  client_.reset();
  if (loop_ != nullptr) loop_->cancel(*this);
}

// When the next message is due; kNever before that is known, and behind the last.
int64_t Publisher::dueNs() const noexcept {
  const int64_t from = control_.measure_from_ns.load(std::memory_order_acquire);
  const Scenario& scenario = plan_.scenario;
  if (from == Control::kNever || next_ > scenario.publish_messages) return Control::kNever;
  return std::max(from + static_cast<int64_t>(next_ - 1) * scenario.publish_interval_ns, retry_ns_);
}

void Publisher::onTimer() noexcept {
  const int64_t now = clockNs();
  const int64_t end = std::min(control_.measure_to_ns.load(std::memory_order_acquire),
                               control_.end_ns.load(std::memory_order_acquire));
  if (now >= end) return loop_->stop();
  if (!under_way_ && now >= dueNs()) publish(now);
  const int64_t due = under_way_ ? Control::kNever : dueNs();
  loop_->armAt(*this, std::clamp(std::min(due, end), now + 1, now + kTickNs));
}

void Publisher::publish(int64_t now_ns) {
  under_way_ = true;
  sent_ns_ = now_ns;
  status_ = 0;
  published(next_);
  std::string text = fmt::format("{} {} ", next_, now_ns);
  text.resize(plan_.scenario.publish_bytes, 'x');
  http::client::Request request;
  request.method = "POST";
  request.target = plan_.scenario.publish.target;
  request.host_field = host_field_;
  request.fields = fields_;
  request.body = BufferRef::copyOf(text);
  request.timeouts.total_ms = plan_.scenario.timeout_ms;
  request.timeouts.connect_ms = std::min(plan_.scenario.timeout_ms, plan_.scenario.connect_timeout_ms);
  client_->start(plan_.scenario.publish.origin, request, *this);
}

void Publisher::published(uint64_t messages) noexcept {
  control_.published.store(messages, std::memory_order_release);
}

void Publisher::complain(const std::string& what) noexcept {
  constexpr auto kIndex = static_cast<size_t>(ErrorKind::kPublish);
  stats_.errors[kIndex].add();
  if (stats_.first_error[kIndex].empty())
    stats_.first_error[kIndex] = fmt::format("message {}: {}", next_, what);
}

void Publisher::onHead(http::client::Call&, const http::client::ReceivedHead& head,
                       const http::h1::ResponseFraming&) noexcept {
  status_ = head.status;
}

void Publisher::onEnd() noexcept {
  under_way_ = false;
  const int64_t now = clockNs();
  if (status_ >= 200 && status_ < 300) {
    stats_.published.add();
    stats_.publishing.record(static_cast<uint64_t>(std::max<int64_t>(now - sent_ns_, 0)));
    ++next_;
  } else {
    complain(fmt::format("status {}", status_));
    published(next_ - 1);
    retry_ns_ = now + plan_.scenario.reconnect_delay_ns;
  }
  onTimer();
}

void Publisher::onFailure(const http::client::ClientFailure& failure) noexcept {
  if (!under_way_) return;  // this is being destroyed
  under_way_ = false;
  complain(failure.toString());
  const ClientError error = failure.error;
  const bool was_sent = error != ClientError::kBadRequest && error != ClientError::kOverload &&
                        error != ClientError::kResolve && error != ClientError::kConnect &&
                        error != ClientError::kConnectTimeout;
  if (was_sent) {
    ++next_;
  } else {
    published(next_ - 1);
  }
  retry_ns_ = clockNs() + plan_.scenario.reconnect_delay_ns;
  onTimer();
}

}  // namespace roost::swarm
