#include "modules/mysql/body_gatherer.h"

#include <algorithm>
#include <charconv>

#include "http/exchange.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/write_request.h"

namespace roost::modules::mysql {

constexpr int64_t kMostAtOnce = 64 << 10;

int64_t announcedBytes(const http::RequestHead& head) noexcept {
  const std::string_view text = head.get(http::FieldId::kContentLength);
  int64_t bytes = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc{} && end == text.data() + text.size() ? bytes : -1;
}

BodyGatherer::BodyGatherer(const http::Exchange& exchange, uint32_t max_bytes) : max_bytes_(max_bytes) {
  const int64_t announced = announcedBytes(exchange.request());
  if (announced > 0)
    memory::forPeer([&] { text_.reserve(static_cast<size_t>(std::min(announced, kMostAtOnce))); });
}

tables::Problem BodyGatherer::problem() const {
  return too_large_ ? bodyTooLarge(max_bytes_) : noMemory();
}

}  // namespace roost::modules::mysql
