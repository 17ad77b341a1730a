#pragma once

#include <cstdint>
#include <string>

namespace roost::db {

enum class ErrorKind : uint8_t {
  kStatement,     // the server refused or ended the statement: `number`, `sqlstate`
  kTimeout,       // it took longer than it may and was killed
  kLost,          // the connection died; what was sent may have been carried out
  kUnavailable,   // no connection can be made
  kQueueFull,     // too many wait for one
  kQueueTimeout,  // waited too long for one
  kTooLarge,      // beyond the server's max_allowed_packet
  kShutdown,
};

// Why there is no result. `message` is the server's or the client library's: for the log, never for clients,
// since it may hold SQL.
struct Error {
  ErrorKind kind = ErrorKind::kStatement;
  uint32_t number = 0;   // as in mysqld_error.h, errmsg.h; 0: none
  std::string sqlstate;  // five characters, or empty
  std::string message;
  uint32_t retry_after_s = 0;  // when to ask again: of kUnavailable, the queue; 0: not known
};

// "Too many connections": of all, of the account, of the account's resources.
constexpr bool isFull(uint32_t number) noexcept {
  return number == 1040 || number == 1203 || number == 1226;
}

}  // namespace roost::db
