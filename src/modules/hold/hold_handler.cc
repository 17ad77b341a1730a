#include "modules/hold/hold_handler.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "base/random.h"
#include "event/loop.h"
#include "http/exchange.h"
#include "http/query.h"

namespace roost::modules::hold {
namespace {

// One held request. The exchange owns it, and outlives it but for the end of the current batch: whatever ends
// the exchange before the time is up comes by onAbort, which takes the timer away.
class HeldRequest final : public http::ExchangeListener, private event::Timer {
 public:
  HeldRequest(http::Exchange& exchange, BufferRef body) noexcept
      : exchange_(exchange), body_(std::move(body)) {}

  void start(uint32_t ms) noexcept {
    due_ms_ = nowMs() + ms;
    exchange_.context().loop().armIn(*this, std::chrono::milliseconds(ms));
  }

  void onBody(std::string_view piece, bool) noexcept override { exchange_.consumed(piece.size()); }
  void onAbort(http::AbortReason) noexcept override { exchange_.context().loop().cancel(*this); }
  // Who would be held longer is told at once to ask again.
  bool onShutdown(int64_t until_ns) noexcept override {
    const auto left_ms = static_cast<int32_t>(due_ms_ - static_cast<uint32_t>(until_ns / kNsPerMs));
    if (left_ms < 0) return true;
    exchange_.context().loop().cancel(*this);
    http::ResponseHead extra(503);
    extra.add("Retry-After", "1");
    exchange_.replyError(503, &extra);
    return true;
  }

 private:
  void onTimer() noexcept override {
    http::ResponseHead head(200);
    if (body_.size() > 0) head.add("Content-Type", "text/plain; charset=utf-8");
    exchange_.reply(head, body_.view());
  }

  uint32_t nowMs() const noexcept {
    return static_cast<uint32_t>(exchange_.context().loop().nowNs() / kNsPerMs);
  }

  static constexpr int64_t kNsPerMs = 1'000'000;

  uint32_t due_ms_ = 0;  // by the loop's clock, of which the lower half is enough
  http::Exchange& exchange_;
  const BufferRef body_;
};
static_assert(sizeof(HeldRequest) <= 40, "a held request's budget");

}  // namespace

int64_t HoldHandler::askedMs(std::string_view query, std::string_view key, uint32_t max_ms) noexcept {
  for (http::QueryArgument argument; http::nextArgument(query, argument);) {
    if (argument.name != key || !argument.has_value) continue;
    const std::string_view text = argument.value;
    uint32_t ms = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
    return error == std::errc{} && end == text.data() + text.size() && ms <= max_ms ? int64_t{ms}
                                                                                    : kMalformed;
  }
  return kNotAsked;
}

// Spread evenly enough for load; nobody gains by guessing it.
uint32_t HoldHandler::someMs() const noexcept {
  thread_local uint64_t state = randomWord();
  const uint64_t span = uint64_t{options_.max_ms} - options_.min_ms + 1;
  return options_.min_ms + static_cast<uint32_t>(scrambled(++state) % span);
}

void HoldHandler::handle(http::Exchange& exchange) const noexcept {
  int64_t ms = kNotAsked;
  if (!options_.query_key.empty()) ms = askedMs(exchange.query(), options_.query_key, options_.max_ms);
  if (ms == kMalformed) {
    if (exchange.trace() != nullptr) {
      exchange.trace()->note(
          fmt::format("\"{}\" asks for no time up to {} ms", options_.query_key, options_.max_ms));
    }
    return exchange.replyError(400);
  }
  if (ms == kNotAsked) ms = someMs();
  if (exchange.trace() != nullptr) exchange.trace()->note(fmt::format("holds the request for {} ms", ms));
  auto held = std::make_unique<HeldRequest>(exchange, options_.body);
  HeldRequest& timer = *held;
  exchange.listen(std::move(held));
  if (!exchange.active()) return;
  timer.start(static_cast<uint32_t>(ms));
  exchange.park();
}

}  // namespace roost::modules::hold
