#include "modules/push/subscribe_socket.h"

#include <memory>
#include <string>
#include <utility>

#include "http/token_list.h"
#include "http/ws/handshake.h"
#include "http/ws/socket.h"
#include "modules/push/publisher.h"
#include "modules/push/socket_publisher.h"
#include "modules/push/subscribe_forms.h"
#include "modules/push/subscribe_stream.h"

namespace roost::modules::push {
namespace {

using http::ws::Opcode;
using http::ws::Socket;
using hub::Delivery;
using hub::EndReason;

constexpr std::string_view kMeta = "ws+meta.nchan";
// Offered beside it by clients that know more than Nchan's: "event" lines, and where they begin if they name
// no message. Never chosen.
constexpr std::string_view kPosition = "position";
constexpr uint32_t kMostIgnoredBytes = 16 << 10;  // of a message that nobody wants

// Whose socket is being made on this thread.
thread_local Desk* desk_of_new = nullptr;

class Subscribed;

// A socket that the client does not know to be open yet: the hub has to have counted it first. The exchange
// owns it.
class Opening final : public http::ExchangeListener {
 public:
  Opening(http::Exchange& exchange, std::unique_ptr<Socket> socket, std::string_view channel)
      : exchange_(exchange), socket_(std::move(socket)), channel_(channel) {}

  // Answers 101. False: it could not; the socket and its Subscribed are gone.
  bool open() noexcept { return http::ws::open(exchange_, std::move(socket_)); }
  void refuse(Desk& desk) noexcept { desk.refuse(exchange_, 503); }
  const std::string& channel() const noexcept { return channel_; }
  // nullptr: the client may not publish.
  SocketPublisher* makePublisher(const Desk& desk) const {
    const std::shared_ptr<const Publisher>& route = desk.options().publisher;
    return route == nullptr ? nullptr : new SocketPublisher(exchange_, channel_, route);
  }

  void onAbort(http::AbortReason) noexcept override;

 private:
  http::Exchange& exchange_;
  std::unique_ptr<Socket> socket_;
  const std::string channel_;
};

// One WebSocket's subscription; lies behind the socket in its memory. Subscribed before the socket opens,
// until onEnd or the socket's onClose.
class Subscribed final : public http::ws::SocketState, public hub::Subscriber {
 public:
  Subscribed(Desk& desk, Form form) noexcept
      : desk_(desk.share()),
        since_(desk.nowStep()),
        form_(static_cast<uint8_t>(form)),
        position_(form == kMetaFrameForm) {
    subscribers().add();
  }
  ~Subscribed() override {
    onClose();
    if (open_) delete publisher_;
    subscribers().sub();
  }

  void start(Socket& socket, Opening& opening, const hub::SubscribeOptions& options) noexcept {
    socket_ = &socket;
    opening_ = &opening;
    position_ = position_ && options.start.kind != hub::Start::Kind::kAfter;
    desk_->shard().subscribe(opening.channel(), options, *this);
  }
  void onWritable() noexcept {
    if (!over_) desk_->shard().resume(*this);
  }
  // Whatever has ended it.
  void onClose() noexcept {
    if (std::exchange(over_, true)) return;
    desk_->shard().unsubscribe(*this);
  }
  void publish(const http::ws::Message& message) noexcept {
    if (!over_ && publisher_ != nullptr) publisher_->publish(*socket_, message);
  }
  // Whoever it was that closed the socket.
  void onClosed(uint16_t code) noexcept {
    if (open_ && publisher_ != nullptr) publisher_->onClose(code);
    onClose();
  }
  void beat() noexcept;

  // hub::Subscriber
  void onSubscribed(const hub::MessageId& position) noexcept override {
    const HubCall call;
    Opening& opening = *opening_;
    open_ = true;
    publisher_ = opening.makePublisher(*desk_);
    if (!opening.open() || over_) return;
    if (position_) send(positionFrame(position));
  }
  Delivery onMessage(const hub::Message::Ref& message) noexcept override {
    const HubCall call;
    const Delivery delivery = send(frameOf(*message));
    if (delivery != Delivery::kClosed) desk_->countDelivery(Transport::kWebSocket, *message, since_);
    return delivery;
  }
  Delivery onGap(const hub::Gap& gap) noexcept override {
    const HubCall call;
    desk_->counters().gaps->add();
    if (form_ != kMetaFrameForm && !desk_->options().gap_messages) return Delivery::kAccepted;
    return send(gapFrame(gap, static_cast<Form>(form_)));
  }
  void onEnd(EndReason reason) noexcept override {
    const HubCall call;
    over_ = true;
    if (!open_) return opening_->refuse(*desk_);
    switch (reason) {
      case EndReason::kDeleted:
        return socket_->close(http::ws::kNormal, "410 Gone");
      case EndReason::kShutdown:
        return socket_->close(http::ws::kGoingAway, {});
      case EndReason::kTooSlow:
        return socket_->abort();
      case EndReason::kTooManyChannels:
      case EndReason::kTooManySubscribers:
        break;  // said before it is open
    }
  }

 private:
  metrics::Gauge& subscribers() const noexcept {
    return *desk_->counters().subscribers[static_cast<size_t>(Transport::kWebSocket)];
  }
  const BufferRef& frameOf(const hub::Message& message) const noexcept {
    if (form_ == kPlainFrameForm) return message.form(kPlainFrameForm, &encodePlainFrame);
    if (form_ == kMetaFrameForm || message.event().empty())
      return message.form(kMetaFrameForm, &encodeMetaFrame);
    return message.form(kNchanFrameForm, &encodeNchanFrame);
  }
  Delivery send(const BufferRef& frames) noexcept {
    if (!frames) {  // there is no memory for it: the client comes back, and misses nothing
      desk_->context().noteNoMemory();
      socket_->abort();
    }
    switch (socket_->sendFrames(frames)) {
      case http::SendResult::kAccepted:
        return Delivery::kAccepted;
      case http::SendResult::kBlocked:
        desk_->counters().slow->add();
        return Delivery::kBlocked;
      case http::SendResult::kClosed:
        break;
    }
    onClose();
    return Delivery::kClosed;
  }

  const DeskRef desk_;
  Socket* socket_ = nullptr;
  union {
    Opening* opening_ = nullptr;  // until it is open
    SocketPublisher* publisher_;  // from then on; owned; nullptr: it may not
  };
  uint32_t since_;
  uint8_t form_;
  bool position_;
  bool open_ = false;
  bool over_ = false;
};
static_assert(sizeof(Subscribed) <= 80, "a WebSocket subscriber's budget");

void Opening::onAbort(http::AbortReason) noexcept {
  if (socket_ != nullptr) static_cast<Subscribed&>(socket_->state()).onClose();
}

// Pages see no pings: those that know of it are sent a frame of two line ends behind each pong, no message.
void Subscribed::beat() noexcept {
  if (over_ || form_ != kMetaFrameForm || socket_->queuedBytes() > 0) return;
  static_cast<void>(socket_->send(http::ws::Opcode::kText, "\n\n"));
}

class Subscribers final : public http::ws::SocketHandler {
 public:
  size_t stateBytes() const noexcept override { return sizeof(Subscribed); }
  http::ws::SocketState* makeState(void* memory, const http::Exchange& exchange) const noexcept override {
    bool meta = false;
    bool position = false;
    for (http::TokenList list(exchange.request(), http::FieldId::kSecWebsocketProtocol); list.next();) {
      meta = meta || list.element() == kMeta;
      position = position || list.element() == kPosition;
    }
    const Form form = !meta ? kPlainFrameForm : position ? kMetaFrameForm : kNchanFrameForm;
    return new (memory) Subscribed(*desk_of_new, form);
  }
  void onMessage(Socket& socket, http::ws::Message& message) const noexcept override {
    of(socket).publish(message);
  }
  void onPong(Socket& socket, std::string_view) const noexcept override { of(socket).beat(); }
  void onWritable(Socket& socket) const noexcept override { of(socket).onWritable(); }
  void onClose(Socket& socket, uint16_t code, std::string_view) const noexcept override {
    of(socket).onClosed(code);
  }

 private:
  static Subscribed& of(Socket& socket) noexcept { return static_cast<Subscribed&>(socket.state()); }
};

}  // namespace

Result<http::ws::Endpoint::Ref> makeEndpoint(const SubscribeOptions& options) {
  http::ws::EndpointOptions endpoint;
  const bool publishes = options.publisher != nullptr;
  endpoint.max_message_bytes = publishes ? options.publisher->options().max_message_bytes : kMostIgnoredBytes;
  endpoint.max_frame_bytes = endpoint.max_message_bytes;
  endpoint.max_queued_bytes = UINT32_MAX;  // there is one message at a time, whatever its size
  endpoint.ping_interval_ms = options.ping_interval_ms;
  endpoint.subprotocols = {std::string(kMeta)};
  Result<http::OriginPolicy> origins = http::OriginPolicy::compile(options.origins);
  if (!origins.ok()) return Status::error("origins: " + origins.status().message());
  endpoint.origins = std::move(origins).value();
  return http::ws::Endpoint::make(std::move(endpoint), std::make_unique<Subscribers>());
}

void openSocket(http::Exchange& exchange, const http::ws::Endpoint::Ref& endpoint, Desk& desk,
                std::string_view channel, const hub::SubscribeOptions& options) noexcept {
  desk_of_new = &desk;
  std::unique_ptr<Socket> socket = http::ws::check(exchange, endpoint);
  desk_of_new = nullptr;
  if (socket == nullptr) return;
  Socket& mine = *socket;
  auto opening = std::make_unique<Opening>(exchange, std::move(socket), channel);
  Opening& waits = *opening;
  exchange.listen(std::move(opening));
  if (exchange.active()) static_cast<Subscribed&>(mine.state()).start(mine, waits, options);
}

}  // namespace roost::modules::push
