#include "http/date_cache.h"

#include "http/date.h"

namespace roost::http {

void DateCache::refresh() noexcept {
  constexpr int64_t kSecondNs = 1'000'000'000;
  const int64_t now_ns = loop_.sys().realtimeNs();
  seconds_ = now_ns / kSecondNs;
  stale_at_ns_ = loop_.nowNs() + (kSecondNs - now_ns % kSecondNs);
  formatHttpDate(seconds_, text_);
}

}  // namespace roost::http
