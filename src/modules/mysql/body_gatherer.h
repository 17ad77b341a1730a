#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tables/body_budget.h"
#include "tables/problem.h"

namespace roost::http {
class Exchange;
struct RequestHead;
}  // namespace roost::http

namespace roost::modules::mysql {

// What a request says that its content's length is; -1: nothing.
int64_t announcedBytes(const http::RequestHead& head) noexcept;

// Content of more takes longer to read than a loop should be held up.
inline constexpr size_t kMostBytesOnLoop = 64 << 10;

// A request's content as it comes, up to a limit.
class BodyGatherer {
 public:
  // Takes memory as content comes: a client that announces much and sends nothing holds nothing.
  // `lease` pays for it, and outlives it; take() leaves it paid for.
  BodyGatherer(uint32_t max_bytes, tables::BodyLease& lease) noexcept
      : max_bytes_(max_bytes), lease_(lease) {}

  // False: it is larger than it may be, or all bodies together are, or there is no memory for it.
  bool add(std::string_view piece, tables::Problem& problem) noexcept;
  std::string take() noexcept { return std::move(text_); }

 private:
  bool reserve(size_t bytes, tables::Problem& problem) noexcept;

  const size_t max_bytes_;
  tables::BodyLease& lease_;
  size_t paid_ = 0;
  std::string text_;
};

}  // namespace roost::modules::mysql
