#pragma once

#include <string>
#include <string_view>

#include "tools/swarm/worker.h"

namespace roost::swarm {

// Makes the bytes of the plan's http request, or of its opening handshake, once for all clients.
void buildRequest(Plan& plan);

// The key of all handshakes (RFC 6455 section 4.1 wants it random so that caches do not answer; here nobody
// stands between, and the same bytes serve every client).
std::string_view handshakeKey() noexcept;

}  // namespace roost::swarm
