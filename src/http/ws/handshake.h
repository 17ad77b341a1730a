// The opening handshake (RFC 6455 section 4), the server's side.
#pragma once

#include "http/ws/endpoint.h"

namespace roost::http::ws {

// Answers a request: opens a WebSocket of `endpoint`, or says what is wrong with it: 405, 400 (no key), 403
// (origin), 426 (no upgrade asked for, or another version, with the one we speak). Either way the exchange is
// answered.
void accept(Exchange& exchange, const Endpoint::Ref& endpoint) noexcept;

}  // namespace roost::http::ws
