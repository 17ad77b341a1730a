#include "tools/swarm/stats.h"

namespace roost::swarm {
namespace {

struct Name {
  std::string_view name, key;
};
constexpr Name kNames[] = {
    {"connection refused", "connect_refused"},
    {"connecting took too long", "connect_timeout"},
    {"connecting failed", "connect_failed"},
    {"no descriptor left here", "no_descriptor"},
    {"no local port left here", "no_local_port"},
    {"handshake not granted", "handshake"},
    {"connection reset", "reset"},
    {"closed by the server", "closed_early"},
    {"pipelined in vain", "in_vain"},
    {"no answer in time", "timeout"},
    {"wrong status", "status"},
    {"wrong length", "length"},
    {"wrong content", "body"},
    {"not the protocol", "protocol"},
    {"answered too early", "too_early"},
    {"answered too late", "too_late"},
    {"message without a number", "no_number"},
    {"message lost", "lost"},
    {"message repeated", "duplicate"},
    {"message out of order", "reordered"},
    {"gap told", "gap"},
    {"message not published", "publish"},
};
static_assert(sizeof kNames / sizeof kNames[0] == kErrorKinds);

}  // namespace

std::string_view errorName(ErrorKind kind) noexcept {
  return kNames[static_cast<size_t>(kind)].name;
}

std::string_view errorKey(ErrorKind kind) noexcept {
  return kNames[static_cast<size_t>(kind)].key;
}

}  // namespace roost::swarm
