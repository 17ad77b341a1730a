#include "modules/rate_limit/rate_filter.h"

#include <fmt/format.h>

#include <utility>

#include "event/loop.h"
#include "log/log.h"

namespace roost::modules::rate_limit {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;

// Keeps an exchange waiting; goes with it, and the timer too.
class Wait final : public http::Attachment, private event::Timer {
 public:
  Wait(http::Exchange& exchange, int64_t ns) : exchange_(exchange), loop_(exchange.context().loop()) {
    loop_.armIn(*this, event::Nanos(ns));
  }
  ~Wait() override { loop_.cancel(*this); }

 private:
  void onTimer() noexcept override { exchange_.resume(http::Verdict::kContinue); }

  http::Exchange& exchange_;
  event::Loop& loop_;
};

}  // namespace

http::Verdict RateFilter::onRequest(http::Exchange& exchange) const noexcept {
  if (!exchange.countsFirst(this)) return http::Verdict::kContinue;
  uint64_t hash = 0;
  if (!key_.hash(exchange, zone_->secret, hash)) {
    if (auto* trace = exchange.trace()) trace->note("rate limit: the key is empty, so it is not counted");
    return http::Verdict::kContinue;
  }
  const RateTable::Decision decision = zone_->table->take(hash, exchange.context().loop().nowNs());
  return decision.admitted ? admit(exchange, decision) : refuse(exchange, decision);
}

http::Verdict RateFilter::admit(http::Exchange& exchange,
                                const RateTable::Decision& decision) const noexcept {
  const RateTable& table = *zone_->table;
  if (auto* trace = exchange.trace()) {
    trace->note(fmt::format("rate limit: {} requests per {} s for \"{}\", {} more at once",
                            table.limit().requests, table.limit().per_s, key_.describe(exchange),
                            table.left(decision)));
  }
  if (options_.delay_after == 0 || options_.dry_run) return http::Verdict::kContinue;
  const int64_t wait_ns = table.pacingNs(decision, options_.delay_after);
  if (wait_ns == 0) return http::Verdict::kContinue;
  exchange.attach(std::make_unique<Wait>(exchange, wait_ns));
  return http::Verdict::kPaused;
}

http::Verdict RateFilter::refuse(http::Exchange& exchange,
                                 const RateTable::Decision& decision) const noexcept {
  const RateLimit& limit = zone_->table->limit();
  LOG_EVERY_SECOND(WARN, "{}: beyond {} requests per {} s{}", exchange.client().toString(), limit.requests,
                   limit.per_s, options_.dry_run ? ", let in by dry_run" : "");
  if (auto* trace = exchange.trace()) {
    trace->note(fmt::format("rate limit: \"{}\" is beyond {} requests per {} s", key_.describe(exchange),
                            limit.requests, limit.per_s));
  }
  if (const http::HttpCounters* counters = exchange.context().counters()) counters->rate_limited.add();
  if (options_.dry_run) return http::Verdict::kContinue;
  const int64_t wait_ns = zone_->table->retryAfterNs(decision);
  http::ResponseHead extra(options_.status);
  extra.addNumber("Retry-After", static_cast<uint64_t>((wait_ns + kNsPerS - 1) / kNsPerS));
  exchange.replyError(options_.status, &extra);
  return http::Verdict::kReplied;
}

}  // namespace roost::modules::rate_limit
