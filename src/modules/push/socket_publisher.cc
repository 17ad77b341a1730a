#include "modules/push/socket_publisher.h"

#include <new>
#include <utility>

#include "http/exchange.h"

namespace roost::modules::push {

using ::roost::push::PublishResult;
using ::roost::push::PublishStatus;

// A publication under way. The hub owns it; the socket may go before.
class SocketPublisher::Call final : public ::roost::push::PublishCall {
 public:
  Call(SocketPublisher& by, const PublishCounters& counters, size_t bytes) noexcept
      : by_(&by), counters_(counters), bytes_(bytes) {}
  ~Call() override {
    if (by_ != nullptr) by_->call_ = nullptr;
  }
  void onPublished(const PublishResult& result) noexcept override {
    counters_.count(result, bytes_);
    if (by_ != nullptr) std::exchange(by_, nullptr)->onPublished(result);
  }
  void forget() noexcept { by_ = nullptr; }

 private:
  SocketPublisher* by_;
  const PublishCounters& counters_;
  const size_t bytes_;
};

SocketPublisher::SocketPublisher(const http::Exchange& exchange, std::string channel,
                                 std::shared_ptr<const Publisher> route)
    : context_(exchange.context()),
      channel_(std::move(channel)),
      route_(std::move(route)),
      source_(route_->sourceOf(exchange)) {}

SocketPublisher::~SocketPublisher() {
  if (call_ != nullptr) call_->forget();
  context_.loop().cancel(*this);
}

void SocketPublisher::publish(http::ws::Socket& socket, const http::ws::Message& message) noexcept {
  socket_ = &socket;
  held_ = {};
  held_.payload = BufferRef::copyForPeer(message.view());
  if (!held_.payload) {
    context_.noteNoMemory();
    route_->counters(context_).count(Refusal::kMemory);
    return socket.close(http::ws::kTryAgainLater, "503 Service Unavailable");
  }
  if (!message.isText()) held_.content_type = "application/octet-stream";
  socket.pause();
  publishHeld();
}

void SocketPublisher::publishHeld() noexcept {
  if (socket_ == nullptr || !socket_->isOpen()) return;
  const int64_t wait_ns = route_->admit(source_, channel_, context_.loop().nowNs());
  if (wait_ns > 0) return context_.loop().armIn(*this, event::Nanos(wait_ns));
  auto call = std::make_unique<Call>(*this, route_->counters(context_), held_.payload.size());
  call_ = call.get();
  route_->publish(context_, channel_, std::move(held_), std::move(call));
}

void SocketPublisher::onPublished(const PublishResult& result) noexcept {
  call_ = nullptr;
  if (socket_ == nullptr || !socket_->isOpen()) return;
  if (result.status != PublishStatus::kPublished)
    return socket_->close(http::ws::kTryAgainLater,
                          statusOf(result) == 507 ? "507 Insufficient Storage" : "503 Service Unavailable");
  if (acknowledges_) {
    std::string text;
    appendInfo(text, form_, result.channel, nullptr);
    static_cast<void>(socket_->send(http::ws::Opcode::kText, text));
  }
  socket_->resume();
}

void SocketPublisher::onClose(uint16_t code) noexcept {
  socket_ = nullptr;
  if (code == http::ws::kTooBig) route_->counters(context_).count(Refusal::kSize);
}

namespace {

// The state of a socket that only publishes.
class State final : public http::ws::SocketState {
 public:
  State(const http::Exchange& exchange, std::string channel, std::shared_ptr<const Publisher> route)
      : publisher(exchange, std::move(channel), std::move(route)) {
    publisher.acknowledge(answerForm(exchange.request()));
  }
  SocketPublisher publisher;
};

class Publishers final : public http::ws::SocketHandler {
 public:
  Publishers(const ChannelTemplate& channel, std::shared_ptr<const Publisher> route)
      : channel_(channel), route_(std::move(route)) {}
  size_t stateBytes() const noexcept override { return sizeof(State); }
  http::ws::SocketState* makeState(void* memory, const http::Exchange& exchange) const noexcept override {
    std::string channel;
    channel_.read(exchange, channel);  // its handler has found it good
    return new (memory) State(exchange, std::move(channel), route_);
  }
  void onMessage(http::ws::Socket& socket, http::ws::Message& message) const noexcept override {
    of(socket).publish(socket, message);
  }
  void onClose(http::ws::Socket& socket, uint16_t code, std::string_view) const noexcept override {
    of(socket).onClose(code);
  }

 private:
  static SocketPublisher& of(http::ws::Socket& socket) noexcept {
    return static_cast<State&>(socket.state()).publisher;
  }
  const ChannelTemplate channel_;
  const std::shared_ptr<const Publisher> route_;
};

}  // namespace

http::ws::Endpoint::Ref makePublishEndpoint(const ChannelTemplate& channel,
                                            std::shared_ptr<const Publisher> route) {
  http::ws::EndpointOptions options;
  options.max_message_bytes = route->options().max_message_bytes;
  options.max_frame_bytes = options.max_message_bytes;
  return http::ws::Endpoint::make(std::move(options),
                                  std::make_unique<Publishers>(channel, std::move(route)));
}

}  // namespace roost::modules::push
