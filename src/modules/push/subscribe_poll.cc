#include <fmt/format.h>

#include <memory>
#include <string>

#include "modules/push/subscribe_stream.h"

namespace roost::modules::push {
namespace {

using hub::Delivery;
using hub::EndReason;

// Adds lines in wire form to a head.
void addLines(http::ResponseHead& head, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    const size_t colon = line.find(": ");
    head.add(line.substr(0, colon), line.substr(colon + 2));
    lines.remove_prefix(line.size() + 2);
  }
}

// One long poll. The exchange owns it; it is subscribed until the exchange is answered or aborted. It parks
// the exchange when it is to wait: what filters that look at the request would add is taken then.
class Poll final : public http::ExchangeListener, public hub::Subscriber {
 public:
  Poll(http::Exchange& exchange, Desk& desk, bool at_once) noexcept
      : exchange_(exchange),
        place_(desk, exchange.path()),
        since_(desk.nowStep()),
        at_once_(at_once),
        starting_(true),
        over_(false) {
    subscribers().add();
  }
  ~Poll() override { subscribers().sub(); }

  void start(std::string_view channel, const hub::SubscribeOptions& options) noexcept {
    desk().shard().subscribe(channel, options, *this);
    starting_ = false;
    if (!over_ && told_) wait();
  }

  // hub::Subscriber
  void onSubscribed(const hub::MessageId& position) noexcept override {
    const HubCall call;
    position_time_s_ = static_cast<uint32_t>(position.time_s);
    position_epoch_ = position.epoch;
    position_seq_ = position.seq;
    told_ = true;
    if (starting_) return;
    if (!at_once_) return wait();
    // What there is comes before the hub's call is over.
    exchange_.handle().post([this](http::Exchange&) {
      if (!over_) wait();
    });
  }
  Delivery onMessage(const hub::Message::Ref& message) noexcept override {
    const HubCall call;
    over_ = true;
    desk().countDelivery(Transport::kLongPoll, *message, since_);
    desk().shard().unsubscribe(*this);  // before its client can know that it is over
    answer(*message);
    return Delivery::kDone;
  }
  Delivery onGap(const hub::Gap& gap) noexcept override {
    desk().counters().gaps->add();
    const std::string missed = gap.missed == 0 ? "unknown" : std::to_string(gap.missed);
    lines() += "Push-Gap: " + missed + "\r\n";
    return Delivery::kAccepted;
  }
  void onEnd(EndReason reason) noexcept override {
    const HubCall call;
    over_ = true;
    if (reason == EndReason::kTooManyChannels || reason == EndReason::kTooManySubscribers) {
      desk().counters().refused->add();
    }
    http::ResponseHead head(reason == EndReason::kDeleted ? 410 : 503);
    const uint32_t pause_s = desk().options().retry_after_s;
    if (head.status == 503) head.addNumber("Retry-After", pause_s + desk().some(pause_s + 1));
    head.add("Cache-Control", "no-store");
    if (!exchange_.parked()) return exchange_.replyError(head.status, &head);
    send(head, {});
  }

  // http::ExchangeListener
  void onWritable() noexcept override {
    if (!over_ && exchange_.parked()) setTimeout();
  }
  void onDeadline() noexcept override {
    if (over_) return;
    over_ = true;
    desk().shard().unsubscribe(*this);
    tellNothingNew(desk().options().timeout_status);
  }
  void onAbort(http::AbortReason) noexcept override {
    if (over_) return;
    over_ = true;
    desk().shard().unsubscribe(*this);
  }

 private:
  Desk& desk() const noexcept { return place_->desk(); }
  metrics::Gauge& subscribers() const noexcept {
    return *desk().counters().subscribers[static_cast<size_t>(Transport::kLongPoll)];
  }
  std::string& lines() {
    if (lines_ == nullptr) lines_ = std::make_unique<std::string>();
    return *lines_;
  }

  void answer(const hub::Message& message) noexcept {
    const bool kept = message.payload().size() <= Place::kMostKept;
    if (kept && (exchange_.parked() || exchange_.mayReplyNegotiated())) {
      const std::unique_ptr<std::string> held = std::move(lines_);
      return exchange_.reply(place_->answerOf(message), held == nullptr ? std::string_view{} : *held);
    }
    http::ResponseHead head(200);
    addMessage(head, message, desk().options());
    send(head, message.payload());
  }

  void tellNothingNew(int status) noexcept {
    http::ResponseHead head(status);
    hub::MessageId position;
    position.time_s = position_time_s_;
    position.seq = position_seq_;
    position.epoch = position_epoch_;
    addIdentity(head, position, desk().options());
    send(head, {});
  }

  void send(http::ResponseHead& head, const BufferRef& content) noexcept {
    if (exchange_.parked()) place_->filterHead(head);
    if (lines_ != nullptr) addLines(head, *lines_);
    head.negotiated = true;
    const size_t size = content.size();
    if (head.status != 304) head.content_length = static_cast<int64_t>(size);
    exchange_.begin(head, size == 0);
    if (size > 0) exchange_.send(content, true);
  }

  // Nothing has come at once.
  void wait() noexcept {
    if (at_once_) {
      over_ = true;
      desk().shard().unsubscribe(*this);
      return tellNothingNew(304);
    }
    const auto& filters = exchange_.route().response_filters;
    if (!filters.empty()) {
      http::ResponseHead added(200);
      for (const auto& filter : filters) filter->onHead(exchange_, added);
      lines() += added.lines();
    }
    exchange_.park();
    setTimeout();
  }
  void setTimeout() noexcept {
    const uint32_t timeout_ms = desk().options().timeout_ms;
    if (timeout_ms != 0) exchange_.setDeadline(timeout_ms - desk().some(timeout_ms / 10 + 1));
  }

  http::Exchange& exchange_;  // not ours any more once over_
  const PlaceRef place_;
  std::unique_ptr<std::string> lines_;  // of the answer's head, in wire form
  uint64_t position_seq_ = 0;
  uint32_t position_time_s_ = 0;
  uint32_t position_epoch_ = 0;
  uint32_t since_;
  bool at_once_ : 1;
  bool starting_ : 1;
  bool told_ = false;
  bool over_ : 1;
};
static_assert(sizeof(Poll) <= 96, "a long poll's budget");

}  // namespace

void startPoll(http::Exchange& exchange, Desk& desk, std::string_view channel,
               const hub::SubscribeOptions& options, bool at_once) noexcept {
  auto poll = std::make_unique<Poll>(exchange, desk, at_once);
  Poll& mine = *poll;
  exchange.listen(std::move(poll));
  if (exchange.active()) mine.start(channel, options);
}

}  // namespace roost::modules::push
