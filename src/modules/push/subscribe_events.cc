#include <fmt/format.h>

#include <memory>
#include <string>

#include "http/framed.h"
#include "modules/push/subscribe_forms.h"
#include "modules/push/subscribe_stream.h"

namespace roost::modules::push {
namespace {

using hub::Delivery;
using hub::EndReason;

// Not compressed: a compressor for each stream would take more memory than all else of it.
http::ResponseHead streamHead() {
  http::ResponseHead head(200);
  head.add("Content-Type", "text/event-stream; charset=utf-8");
  head.add("Cache-Control", "no-cache, no-store");
  head.add("X-Accel-Buffering", "no");
  head.negotiated = true;
  return head;
}

// An event stream. The exchange owns it, and is parked once the head is out; it is subscribed until the
// exchange is over.
class Events final : public http::ExchangeListener, public hub::Subscriber {
 public:
  Events(http::Exchange& exchange, Desk& desk) noexcept
      : exchange_(exchange), place_(desk, exchange.path()), since_(desk.nowStep()) {
    subscribers().add();
  }
  ~Events() override { subscribers().sub(); }

  void start(std::string_view channel, const hub::SubscribeOptions& options) noexcept {
    desk().shard().subscribe(channel, options, *this);
  }

  // hub::Subscriber
  void onSubscribed(const hub::MessageId& position) noexcept override {
    const HubCall call;
    http::ResponseHead head = streamHead();
    exchange_.begin(head, false);
    // No empty line before the first event: some readers take each block for a message, whatever stands in
    // it. Those that look into comments can go on from this position where they have had no event yet.
    std::string text = ": hi\n: position " + position.text() + "\n";
    if (const uint32_t retry_ms = desk().options().retry_ms; retry_ms != 0)
      text += fmt::format("retry: {}\n", retry_ms + desk().some(retry_ms / 4 + 1));
    if (exchange_.send(text, false) == http::SendResult::kClosed) return;
    exchange_.park();
    beat();
  }
  Delivery onMessage(const hub::Message::Ref& message) noexcept override {
    const HubCall call;
    const Delivery delivery = send(message->form(kEventForm, &encodeEvent));
    if (delivery != Delivery::kClosed) desk().countDelivery(Transport::kEvents, *message, since_);
    return delivery;
  }
  Delivery onGap(const hub::Gap& gap) noexcept override {
    const HubCall call;
    desk().counters().gaps->add();
    return send(gapEvent(gap));
  }
  void onEnd(EndReason reason) noexcept override {
    const HubCall call;
    over_ = true;
    if (!exchange_.headSent()) {
      const bool deleted = reason == EndReason::kDeleted;
      return deleted ? exchange_.replyError(410) : desk().refuse(exchange_, 503);
    }
    if (reason == EndReason::kTooSlow) return exchange_.abandon();
    exchange_.send(std::string_view(), true);
  }

  // http::ExchangeListener
  void onWritable() noexcept override {
    if (over_) return;
    desk().shard().resume(*this);
    if (!over_) beat();
  }
  void onDeadline() noexcept override {
    if (over_) return;
    exchange_.send(std::string_view(":\n"), false);
    if (!over_) beat();
  }
  void onAbort(http::AbortReason) noexcept override {
    if (over_) return;
    over_ = true;
    desk().shard().unsubscribe(*this);
  }

 private:
  Desk& desk() const noexcept { return place_->desk(); }
  metrics::Gauge& subscribers() const noexcept {
    return *desk().counters().subscribers[static_cast<size_t>(Transport::kEvents)];
  }
  void beat() noexcept {
    const uint32_t heartbeat_ms = desk().options().heartbeat_ms;
    if (heartbeat_ms != 0) exchange_.setDeadline(heartbeat_ms);
  }
  Delivery send(const BufferRef& framed) noexcept {
    if (!framed) {  // there is no memory for it: the client comes back, and misses nothing
      exchange_.context().noteNoMemory();
      exchange_.abandon();
      return Delivery::kClosed;
    }
    switch (exchange_.sendFramed(framed)) {
      case http::SendResult::kAccepted:
        beat();
        return Delivery::kAccepted;
      case http::SendResult::kBlocked:
        desk().counters().slow->add();
        return Delivery::kBlocked;
      case http::SendResult::kClosed:
        break;
    }
    return Delivery::kClosed;
  }

  http::Exchange& exchange_;  // not ours any more once over_
  const PlaceRef place_;
  uint32_t since_;
  bool over_ = false;
};
static_assert(sizeof(Events) <= 72, "an event stream's budget");

}  // namespace

void headOfStream(http::Exchange& exchange) noexcept {
  http::ResponseHead head = streamHead();
  exchange.begin(head, true);
}

void startStream(http::Exchange& exchange, Desk& desk, std::string_view channel,
                 const hub::SubscribeOptions& options) noexcept {
  auto events = std::make_unique<Events>(exchange, desk);
  Events& mine = *events;
  exchange.listen(std::move(events));
  if (exchange.active()) mine.start(channel, options);
}

}  // namespace roost::modules::push
