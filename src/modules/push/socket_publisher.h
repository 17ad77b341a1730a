// WebSocket clients that publish: on a subscriber's socket, or on one that does nothing else.
#pragma once

#include <memory>
#include <string>

#include "event/timer_queue.h"
#include "http/ws/endpoint.h"
#include "http/ws/socket.h"
#include "modules/push/channel_name.h"
#include "modules/push/publish_answer.h"
#include "modules/push/publisher.h"

namespace roost::modules::push {

// Publishes what one WebSocket's client sends, one message at a time. While a message is under way, or the
// client is faster than it may be, the socket is not read, so that the client has to wait. What cannot be
// published closes the socket with 1013. Owned by the socket's state; loop thread only.
class SocketPublisher final : private event::Timer {
 public:
  // Publishes for the client of `exchange`, whose handshake it is, to `channel`. REQUIRES: not parked.
  SocketPublisher(const http::Exchange& exchange, std::string channel,
                  std::shared_ptr<const Publisher> route);
  ~SocketPublisher();
  SocketPublisher(const SocketPublisher&) = delete;
  SocketPublisher& operator=(const SocketPublisher&) = delete;

  // Answers each message with its channel's numbers, in that form.
  void acknowledge(AnswerForm form) noexcept {
    acknowledges_ = true;
    form_ = form;
  }
  void publish(http::ws::Socket& socket, const http::ws::Message& message) noexcept;
  // The socket is closed with that code. Nothing is sent any more.
  void onClose(uint16_t code) noexcept;

 private:
  class Call;
  void onTimer() noexcept override { publishHeld(); }
  void publishHeld() noexcept;
  void onPublished(const ::roost::push::PublishResult& result) noexcept;

  http::LoopContext& context_;
  const std::string channel_;
  const std::shared_ptr<const Publisher> route_;
  const uint64_t source_;
  http::ws::Socket* socket_ = nullptr;  // while it is open and has sent something
  ::roost::push::Publication held_;     // the message that is to be published
  Call* call_ = nullptr;                // under way
  AnswerForm form_ = AnswerForm::kText;
  bool acknowledges_ = false;
};

// WebSockets whose clients publish to the channel that their address names, and are answered each message.
http::ws::Endpoint::Ref makePublishEndpoint(const ChannelTemplate& channel,
                                            std::shared_ptr<const Publisher> route);

}  // namespace roost::modules::push
