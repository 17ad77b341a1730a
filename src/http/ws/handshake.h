// The opening handshake (RFC 6455 section 4), the server's side.
#pragma once

#include <memory>

#include "http/ws/endpoint.h"

namespace roost::http::ws {

// Answers a request: opens a WebSocket of `endpoint`, or says what is wrong with it: 405, 400 (no key), 403
// (origin), 426 (no upgrade asked for, or another version, with the one we speak). Either way the exchange is
// answered.
void accept(Exchange& exchange, const Endpoint::Ref& endpoint) noexcept;

// The same in two steps, for those who have something to find out before the client knows that it is open.
// check(): a socket with its handler's state made, or nullptr where the exchange has been answered. open():
// answers 101 and opens it; false where that cannot be any more: the socket is gone, and the exchange over.
// The exchange must not have been answered or parked in between.
std::unique_ptr<Socket> check(Exchange& exchange, const Endpoint::Ref& endpoint) noexcept;
bool open(Exchange& exchange, std::unique_ptr<Socket> socket) noexcept;

}  // namespace roost::http::ws
