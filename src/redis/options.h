#pragma once

#include <cstdint>
#include <string>

#include "redis/reply_reader.h"

namespace roost::redis {

// Where a Redis server is and how it is spoken to. Milliseconds, counts, bytes.
struct RedisOptions {
  std::string host = "127.0.0.1";  // a name or an address
  uint16_t port = 6379;
  std::string unix_path;  // instead of both, where not empty
  std::string user;       // of AUTH; empty: the default user
  std::string password;   // empty: no AUTH
  uint32_t database = 0;  // of SELECT

  uint32_t connect_timeout_ms = 3000;  // of one attempt, names, all addresses and the handshake included
  uint32_t command_timeout_ms = 5000;  // from command() to its reply, waiting for a connection included
  uint32_t max_commands = 10'000;      // without a reply; beyond it kOverload
  size_t max_queued_bytes = size_t{16} << 20;  // that wait to be sent; likewise
  uint32_t backoff_min_ms = 50;  // before the second attempt; doubled from there, and cut at random
  uint32_t backoff_max_ms = 5000;
  uint32_t ping_interval_ms =
      10'000;                // of a subscriber that hears nothing, to see whether the server is there
  uint64_t jitter_seed = 0;  // 0: from the system
  ReplyLimits limits;
};

}  // namespace roost::redis
