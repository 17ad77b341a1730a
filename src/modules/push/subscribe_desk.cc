#include "modules/push/subscribe_desk.h"

#include "base/random.h"
#include "http/date.h"
#include "http/field_syntax.h"
#include "metrics/registry.h"

namespace roost::modules::push {
namespace {

constexpr std::array<const char*, kTransports> kTransportNames = {"long_poll", "sse", "websocket"};
constexpr uint64_t kLongestLagNs = 100'000'000'000;
constexpr unsigned kLagBits = 5;

}  // namespace

SubscribeCounters::SubscribeCounters(metrics::Registry& registry, const std::string& route) {
  const metrics::Labels of_route = {{"route", route}};
  for (size_t i = 0; i < kTransports; ++i) {
    const metrics::Labels labels = {{"route", route}, {"transport", kTransportNames[i]}};
    subscribers[i] = &registry.gauge({"roost_push_subscribers", "Who listens.", ""}, labels);
    deliveries[i] = &registry.counter(
        {"roost_push_deliveries_total", "Messages handed to subscribers' connections.", ""}, labels);
  }
  lag_ns = &registry.histogram(
      {"roost_push_delivery_lag_nanoseconds",
       "From a message's publication to its being handed to a subscriber's socket.", "nanoseconds"},
      kLongestLagNs, of_route, kLagBits);
  gaps = &registry.counter({"roost_push_gaps_total", "Times that a subscriber was told of a gap.", ""},
                           of_route);
  slow = &registry.counter(
      {"roost_push_slow_total", "Times that a subscriber did not take what it was sent at once.", ""},
      of_route);
  refused =
      &registry.counter({"roost_push_refused_total", "Subscribers that a limit turned away.", ""}, of_route);
}

DeskRef Desk::make(std::shared_ptr<const SubscribeOptions> options, std::string_view server_header,
                   const http::Exchange& first, hub::Shard& shard, const SubscribeCounters& counters) {
  return DeskRef(new Desk(std::move(options), server_header, first, shard, counters));
}

Desk::Desk(std::shared_ptr<const SubscribeOptions> options, std::string_view server_header,
           const http::Exchange& first, hub::Shard& shard, const SubscribeCounters& counters)
    : options_(std::move(options)),
      server_header_(server_header),
      context_(first.context()),
      shard_(shard),
      counters_(counters),
      head_filters_(first.route().head_filters),
      random_(randomWord()) {
  if (head_filters_.empty()) everywhere_ = std::make_unique<Place>(*this, std::string());
}

Desk::~Desk() = default;

DeskRef Desk::share() noexcept {
  ref();
  return DeskRef(this);
}

uint32_t Desk::some(uint32_t range) noexcept {
  return range == 0 ? 0 : static_cast<uint32_t>(scrambled(++random_) % range);
}

void Desk::countDelivery(Transport transport, const hub::Message& message, uint32_t since) const noexcept {
  counters_.deliveries[static_cast<size_t>(transport)]->add();
  const int64_t published_ns = message.publishedNs();
  if (static_cast<int32_t>(step(published_ns) - since) < 0) return;
  const int64_t lag_ns = shard_.host().nowNs() - published_ns;
  counters_.lag_ns->record(lag_ns < 0 ? 0 : static_cast<uint64_t>(lag_ns));
}

void Desk::refuse(http::Exchange& exchange, int status) noexcept {
  counters_.refused->add();
  http::ResponseHead extra(status);
  extra.addNumber("Retry-After", options_->retry_after_s + some(options_->retry_after_s + 1));
  exchange.replyError(status, &extra);
}

void Place::filterHead(http::ResponseHead& head) const noexcept {
  for (const auto& filter : desk_.head_filters_) filter->onHead(path_, head);
}

http::PreparedResponse& Place::answerOf(const hub::Message& message) {
  const bool same =
      kept_of_ == &message && kept_id_ == message.id() && kept_ns_ == message.publishedNs() && kept_;
  if (same) return kept_;
  http::ResponseHead head(200);
  addMessage(head, message, desk_.options());
  filterHead(head);
  kept_ = http::PreparedResponse(head, message.payload().view(), desk_.server_header_);
  kept_of_ = &message;
  kept_id_ = message.id();
  kept_ns_ = message.publishedNs();
  return kept_;
}

PlaceRef::PlaceRef(Desk& desk, std::string_view path) {
  if (desk.everywhere_ != nullptr) {
    place_ = desk.everywhere_.get();
  } else {
    std::unique_ptr<Place>& place = desk.places_[std::string(path)];
    if (place == nullptr) place = std::make_unique<Place>(desk, std::string(path));
    place_ = place.get();
  }
  ++place_->refs_;
  desk.ref();
}

PlaceRef::~PlaceRef() {
  if (place_ == nullptr) return;
  Desk& desk = place_->desk_;
  if (--place_->refs_ == 0 && place_ != desk.everywhere_.get())
    desk.places_.erase(std::string(place_->path_));
  desk.unref();
}

void addIdentity(http::ResponseHead& head, const hub::MessageId& id, const SubscribeOptions& options) {
  char date[http::kHttpDateSize];
  http::formatHttpDate(id.time_s, date);
  head.add("Last-Modified", {date, sizeof date});
  head.add("Etag", "\"" + id.tag() + "\"");
  head.add("Vary", "If-None-Match, If-Modified-Since");
  head.add("Cache-Control", "no-store");
  if (!options.id_header.empty()) head.add(options.id_header, id.text());
  head.negotiated = true;
}

void addMessage(http::ResponseHead& head, const hub::Message& message, const SubscribeOptions& options) {
  if (!message.contentType().empty() && http::isFieldValue(message.contentType()))
    head.add("Content-Type", message.contentType());
  if (!message.event().empty() && http::isFieldValue(message.event()))
    head.add("X-EventSource-Event", message.event());
  // Whoever may publish chooses type and content, which may be a page: opened as one, it is no page of ours.
  head.add("X-Content-Type-Options", "nosniff");
  head.add("Content-Security-Policy", "sandbox");
  addIdentity(head, message.id(), options);
}

}  // namespace roost::modules::push
