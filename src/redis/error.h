// Why a command has no reply.
#pragma once

#include <cstdint>
#include <string>

namespace roost::redis {

enum class RedisError : uint8_t {
  kNone,
  kBadCommand,      // empty, or one that a connection of commands cannot take (SUBSCRIBE, MONITOR, ...)
  kOverload,        // too many commands wait already
  kResolve,         // the server's name
  kConnect,         // sys_errno
  kAuth,            // the server refused AUTH, SELECT or the subscription
  kTimeout,         // no reply, or no connection, in time
  kConnectionLost,  // it ended before the reply came: the command may have been carried out; sys_errno where
                    // there is one
  kProtocol,        // the server sent what is no reply
  kStopped,         // the client is being destroyed
};
const char* redisErrorName(RedisError error) noexcept;

struct RedisFailure {
  RedisError error = RedisError::kNone;
  int sys_errno = 0;   // 0: the system said nothing
  std::string detail;  // what the server or the parser said

  std::string toString() const;  // "connect: Connection refused"
};

}  // namespace roost::redis
