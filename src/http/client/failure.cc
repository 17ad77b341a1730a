#include "http/client/failure.h"

#include "base/errno_text.h"

namespace roost::http::client {

const char* clientErrorName(ClientError error) noexcept {
  switch (error) {
    case ClientError::kNone:
      return "none";
    case ClientError::kBadRequest:
      return "bad_request";
    case ClientError::kOverload:
      return "overload";
    case ClientError::kResolve:
      return "resolve";
    case ClientError::kConnect:
      return "connect";
    case ClientError::kConnectTimeout:
      return "connect_timeout";
    case ClientError::kFirstByteTimeout:
      return "first_byte_timeout";
    case ClientError::kIdleTimeout:
      return "idle_timeout";
    case ClientError::kTotalTimeout:
      return "total_timeout";
    case ClientError::kSend:
      return "send";
    case ClientError::kClosedEarly:
      return "closed_early";
    case ClientError::kMalformed:
      return "malformed";
    case ClientError::kTooLarge:
      return "too_large";
    case ClientError::kRedirect:
      return "redirect";
    case ClientError::kShutdown:
      return "shutdown";
  }
  return "";
}

std::string ClientFailure::toString() const {
  std::string text = clientErrorName(error);
  if (reason[0] != '\0') text.append(": ").append(reason);
  if (sys_errno != 0) text.append(": ").append(errnoText(sys_errno));
  return text;
}

}  // namespace roost::http::client
