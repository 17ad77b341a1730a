#pragma once

#include <cstdint>

#include "http/h1/head_scan.h"

namespace roost::http::client {

// Bounds of one loop's client. Milliseconds, bytes, counts.
struct ClientOptions {
  uint32_t max_per_origin = 100;  // connections, those being made included
  uint32_t max_total = 1000;      // over all origins; idle ones give way to new ones
  uint32_t max_idle_per_origin = 32;
  uint32_t max_waiting = 1000;  // calls per origin that wait for a connection; beyond it kOverload
  uint32_t max_origins = 4096;
  uint32_t idle_timeout_ms = 60'000;     // of a kept connection; less where the server says so
  uint32_t attempt_timeout_ms = 3000;    // of one address, when there are more to try
  uint32_t connect_timeout_ms = 10'000;  // of the last
  uint32_t expect_wait_ms = 1000;
  uint32_t max_retries = 2;          // of a request whose kept connection turned out closed
  uint32_t max_interim = 16;         // 1xx answers before the answer
  uint32_t max_drain_bytes = 65536;  // of a redirect's body, to keep its connection
  h1::HeadLimits head_limits;
};

}  // namespace roost::http::client
