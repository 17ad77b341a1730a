// WebSocket subscribers.
#pragma once

#include <string_view>

#include "base/status.h"
#include "http/ws/endpoint.h"
#include "modules/push/subscribe_desk.h"

namespace roost::modules::push {

// What a route's sockets have in common. Errors: an origin that is none.
Result<http::ws::Endpoint::Ref> makeEndpoint(const SubscribeOptions& options);

// Subscribes, and answers the handshake once the hub has counted the client: 101, or 503 for want of room.
void openSocket(http::Exchange& exchange, const http::ws::Endpoint::Ref& endpoint, Desk& desk,
                std::string_view channel, const hub::SubscribeOptions& options) noexcept;

}  // namespace roost::modules::push
