#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "net/address.h"
#include "tools/swarm/scenario.h"

namespace roost::swarm {

// Which hosts a run loads, and where they are.

bool isLoopback(const net::PeerAddr& address) noexcept;
// Whether DNS could know it: letters, digits, '-', '.' and '_'.
bool isHostName(std::string_view text) noexcept;
// The error for a target elsewhere.
std::string notThisMachine(const std::string& who);

// Looks up the host names that loadScenario() has left open, in /etc/hosts and DNS. Errors: a name without an
// address; one away from loopback without `allow_remote`. Main thread; blocks until DNS has answered.
Status resolveTargets(Scenario& scenario, bool allow_remote);

}  // namespace roost::swarm
