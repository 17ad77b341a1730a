#pragma once

#include <memory>
#include <string>

#include "http/handler.h"
#include "http/ws/endpoint.h"
#include "modules/push/channel_name.h"
#include "modules/push/publish_options.h"
#include "modules/push/publisher.h"

namespace roost::modules::push {

// Answers publishers. POST and PUT: the content becomes a message of the channel that the path names, 201
// where somebody listened and 202 where nobody did. DELETE: the channel ends. GET and HEAD: the channel's
// numbers; GET that asks for a WebSocket gets one that publishes what its client sends. What another origin's
// page sends is refused (http/origin_rule.h). Immutable; any loop's thread.
class PublishHandler final : public http::Handler {
 public:
  PublishHandler(ChannelTemplate channel, std::shared_ptr<const Publisher> publisher, BatchOptions batch);

  void handle(http::Exchange& exchange) const noexcept override;

 private:
  void publish(http::Exchange& exchange) const noexcept;
  void publishBatch(http::Exchange& exchange) const noexcept;
  void tell(http::Exchange& exchange, bool removes) const noexcept;
  void openSocket(http::Exchange& exchange) const noexcept;
  void options(http::Exchange& exchange) const noexcept;
  // False where the request has been refused, here and below.
  bool mayWrite(http::Exchange& exchange) const noexcept;
  bool readChannel(http::Exchange& exchange, std::string& name) const noexcept;

  const ChannelTemplate channel_;
  const std::shared_ptr<const Publisher> publisher_;
  const std::shared_ptr<const BatchOptions> batch_;
  const http::ws::Endpoint::Ref endpoint_;
};

}  // namespace roost::modules::push
