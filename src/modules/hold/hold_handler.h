#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "http/handler.h"

namespace roost::modules::hold {

struct HoldOptions {
  uint32_t min_ms = 30'000;  // at most max_ms
  uint32_t max_ms = 89'000;
  std::string query_key;  // of the argument by which a client asks for a time of its own; empty: it may not
  BufferRef body;
};

// Parks each exchange and answers it 200 when its time has come: a random one between min_ms and max_ms, or
// what the client asks for, up to max_ms. 400 where that is not a number of milliseconds. A client that goes
// away takes its timer along.
class HoldHandler final : public http::Handler {
 public:
  explicit HoldHandler(HoldOptions options) : options_(std::move(options)) {}

  void handle(http::Exchange& exchange) const noexcept override;

  // The milliseconds that `query` asks for by `key`; -1: none are asked for; -2: what stands there is no
  // number, or more than `max_ms`.
  static constexpr int64_t kNotAsked = -1;
  static constexpr int64_t kMalformed = -2;
  static int64_t askedMs(std::string_view query, std::string_view key, uint32_t max_ms) noexcept;

 private:
  uint32_t someMs() const noexcept;

  const HoldOptions options_;
};

}  // namespace roost::modules::hold
