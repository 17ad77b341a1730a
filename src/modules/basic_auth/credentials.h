#pragma once

#include <string_view>

#include "modules/basic_auth/secret.h"

namespace roost::modules::basic_auth {

struct Credentials {
  std::string_view user;
  std::string_view password;  // may hold colons, may be empty
};

constexpr size_t kMaxPasswordBytes = 511;  // what crypt(3) takes

// The value of an Authorization field (RFC 7617 section 2): the scheme in any case, then base64 with its
// padding and nothing else. False for other schemes, for malformed base64, without a colon, with control
// characters, and where it is longer than `room` or kMaxPasswordBytes. The credentials lie in `room`.
bool parseBasic(std::string_view value, SecretRoom& room, Credentials& out) noexcept;

}  // namespace roost::modules::basic_auth
