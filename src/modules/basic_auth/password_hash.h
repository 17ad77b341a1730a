#pragma once

#include <string>

#include "base/status.h"

namespace roost::modules::basic_auth {

// Whether a text is a password's hash that passwordFits() can judge: bcrypt, SHA-crypt, yescrypt and what
// else crypt(5) calls strong. The error says what it is instead, and how to make a good one; it does not
// repeat the text.
Status checkPasswordHash(const std::string& hash);

// Takes as long as the hash's cost says, a large part of a second maybe: task threads. The comparison takes
// the same time wherever the two differ. REQUIRES: checkPasswordHash(hash).
bool passwordFits(const std::string& password, const std::string& hash);

}  // namespace roost::modules::basic_auth
