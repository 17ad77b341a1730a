// Why a request got no answer, or not all of it.
#pragma once

#include <cstdint>
#include <string>

namespace roost::http::client {

enum class ClientError : uint8_t {
  kNone,
  kBadRequest,        // it cannot be sent as it is; nothing was done
  kOverload,          // too many wait for a connection already
  kResolve,           // the host's name
  kConnect,           // every address; sys_errno of the last
  kConnectTimeout,    // no connection in time, whether for names, addresses or the pool's limits
  kFirstByteTimeout,  // the request was sent, and nothing came
  kIdleTimeout,       // an answer that stopped coming, or a peer that stopped reading
  kTotalTimeout,
  kSend,         // the connection failed before anything came; sys_errno
  kClosedEarly,  // it ended, or failed (sys_errno), before the answer did
  kMalformed,    // the answer is not HTTP/1.x, or cannot be framed
  kTooLarge,     // its head is beyond the limits
  kRedirect,     // too many redirects, or one to where the client cannot go
  kShutdown,     // the client is being destroyed
};
constexpr size_t kClientErrorCount = static_cast<size_t>(ClientError::kShutdown) + 1;

// A word for logs and labels: "connect_timeout".
const char* clientErrorName(ClientError error) noexcept;

struct ClientFailure {
  ClientError error = ClientError::kNone;
  int sys_errno = 0;        // 0: the system said nothing
  const char* reason = "";  // static; more than the name tells, or empty

  // "connect: Connection refused", "malformed: line begins with whitespace".
  std::string toString() const;
};

}  // namespace roost::http::client
