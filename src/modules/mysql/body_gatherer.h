#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory.h"
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
  // What is announced takes memory at once, up to 64 KiB; more, as it comes.
  BodyGatherer(const http::Exchange& exchange, uint32_t max_bytes);

  // False: it is larger than it may be, or there is no memory for it; problem() says which.
  bool add(std::string_view piece) noexcept {
    too_large_ = piece.size() > max_bytes_ - text_.size();
    if (!too_large_ && memory::forPeer([&] { text_.append(piece); })) return true;
    text_ = {};
    return false;
  }
  tables::Problem problem() const;
  std::string take() noexcept { return std::move(text_); }

 private:
  const uint32_t max_bytes_;
  std::string text_;
  bool too_large_ = false;
};

}  // namespace roost::modules::mysql
