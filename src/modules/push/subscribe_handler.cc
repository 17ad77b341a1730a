#include <string>
#include <utility>

#include "http/accept.h"
#include "http/exchange.h"
#include "modules/push/channel_name.h"
#include "modules/push/subscribe.h"
#include "modules/push/subscribe_desk.h"
#include "modules/push/subscribe_places.h"
#include "modules/push/subscribe_request.h"
#include "modules/push/subscribe_socket.h"
#include "modules/push/subscribe_stream.h"

namespace roost::modules::push {
namespace {

// What a request is going to be answered with.
enum class Way : uint8_t { kPoll, kEvents, kWebSocket, kNone };

class SubscribeHandler final : public http::Handler {
 public:
  SubscribeHandler(SubscribeOptions options, http::ws::Endpoint::Ref endpoint,
                   const SubscribeContext& context)
      : options_(std::make_shared<const SubscribeOptions>(std::move(options))),
        endpoint_(std::move(endpoint)),
        server_header_(context.server_header),
        places_(context.places),
        hub_(context.hub) {
    for (size_t i = 0; i < context.loop_count; ++i) counters_.emplace_back(context.metrics, context.route);
    desks_ = std::make_unique<DeskRef[]>(context.loop_count);
  }

  void handle(http::Exchange& exchange) const noexcept override;

 private:
  Way wayOf(const http::Exchange& exchange) const noexcept;
  bool answersItself(http::Exchange& exchange) const noexcept;
  void subscribe(http::Exchange& exchange, Way way, const std::string& channel,
                 const hub::SubscribeOptions& first) const noexcept;
  Desk& deskFor(const http::Exchange& exchange) const noexcept;

  const std::shared_ptr<const SubscribeOptions> options_;
  const http::ws::Endpoint::Ref endpoint_;
  const std::string server_header_;
  const std::shared_ptr<AddressPlaces> places_;
  hub::Hub& hub_;
  std::vector<SubscribeCounters> counters_;  // by loop
  std::unique_ptr<DeskRef[]> desks_;         // by loop, which makes its own
};

void note(http::Exchange& exchange, std::string text) {
  if (exchange.trace() != nullptr) exchange.trace()->note(std::move(text));
}

void refuse(http::Exchange& exchange, int status, std::string why) noexcept {
  note(exchange, std::move(why));
  exchange.replyError(status);
}

Desk& SubscribeHandler::deskFor(const http::Exchange& exchange) const noexcept {
  const size_t loop = exchange.context().index();
  DeskRef& desk = desks_[loop];
  if (!desk)
    desk = Desk::make(options_, server_header_, exchange, hub_.shard(exchange.context().index()),
                      counters_[loop]);
  return *desk;
}

Way SubscribeHandler::wayOf(const http::Exchange& exchange) const noexcept {
  const http::RequestHead& head = exchange.request();
  const bool polls = options_->long_poll || options_->interval_poll;
  if (asksForWebSocket(head)) return options_->websocket ? Way::kWebSocket : Way::kNone;
  if (options_->sse && asksForEvents(head)) return Way::kEvents;
  if (polls) return Way::kPoll;
  if (options_->sse && http::qualityOf(head, "text/event-stream") > 0) return Way::kEvents;
  return options_->websocket ? Way::kWebSocket : Way::kNone;
}

// Requests that do not subscribe.
bool SubscribeHandler::answersItself(http::Exchange& exchange) const noexcept {
  if (exchange.errorStatus() != 0) {  // a page for an error is wanted
    exchange.replyError(404);
    return true;
  }
  const http::Method method = exchange.method();
  if (method == http::Method::kGet || method == http::Method::kHead) {
    if (!exchange.hasBody()) return false;
    refuse(exchange, 400, "a subscriber has no content to send");
    return true;
  }
  const bool asks = method == http::Method::kOptions;
  http::ResponseHead head(asks ? 204 : 405);
  head.add("Allow", "GET, HEAD, OPTIONS");
  if (asks) {
    exchange.begin(head, true);
  } else {
    exchange.replyError(405, &head);
  }
  return true;
}

void SubscribeHandler::handle(http::Exchange& exchange) const noexcept {
  if (HubCall::underWay()) {
    return exchange.handle().post([this](http::Exchange& later) { handle(later); });
  }
  if (answersItself(exchange)) return;
  std::string channel;
  options_->channel.append(channel, exchange);
  const ChannelFault fault = checkChannel(channel);
  if (fault != ChannelFault::kNone) return refuse(exchange, 400, std::string(faultText(fault)));
  hub::SubscribeOptions first = options_->first;
  hub::MessageId after;
  const Asked asked = readPosition(exchange, options_->id_query, options_->id_header, after);
  if (asked == Asked::kMalformed) return refuse(exchange, 400, "what should be a message's id is none");
  if (asked == Asked::kId) {
    first.start.kind = hub::Start::Kind::kAfter;
    first.start.after = after;
  }
  const Way way = wayOf(exchange);
  if (way == Way::kNone) return refuse(exchange, 406, "\"transports\" has no way that is asked for");
  note(exchange, "subscribes to \"" + channel + "\"" +
                     (asked == Asked::kId ? " behind the message " + after.text() : std::string()));
  subscribe(exchange, way, channel, first);
}

void SubscribeHandler::subscribe(http::Exchange& exchange, Way way, const std::string& channel,
                                 const hub::SubscribeOptions& first) const noexcept {
  Desk& desk = deskFor(exchange);
  // Neither waits for anything.
  const bool at_once = options_->interval_poll || exchange.isHead() || exchange.trace() != nullptr;
  if (way == Way::kEvents && (exchange.isHead() || exchange.trace() != nullptr))
    return headOfStream(exchange);
  if (places_ != nullptr && !places_->take(exchange)) return desk.refuse(exchange, 429);
  switch (way) {
    case Way::kPoll:
      return startPoll(exchange, desk, channel, first, at_once);
    case Way::kEvents:
      return startStream(exchange, desk, channel, first);
    case Way::kWebSocket:
      return openSocket(exchange, endpoint_, desk, channel, first);
    case Way::kNone:
      break;
  }
}

}  // namespace

Result<std::unique_ptr<const http::Handler>> makeSubscribeHandler(SubscribeOptions options,
                                                                  const SubscribeContext& context) {
  Result<http::ws::Endpoint::Ref> endpoint = makeEndpoint(options);
  if (!endpoint.ok()) return endpoint.status();
  return std::unique_ptr<const http::Handler>(
      std::make_unique<SubscribeHandler>(std::move(options), std::move(endpoint).value(), context));
}

}  // namespace roost::modules::push
