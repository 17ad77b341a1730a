#pragma once

#include <cstdint>
#include <memory>

#include "base/rate_table.h"
#include "base/sip_hash.h"
#include "http/exchange.h"
#include "http/handler.h"
#include "http/limits/limit_key.h"

namespace roost::modules::rate_limit {

// What places of one zone share. Any thread.
struct Zone {
  SipKey secret;
  std::unique_ptr<RateTable> table;
};

struct FilterOptions {
  uint32_t delay_after = 0;  // 0: nobody waits
  int status = 429;
  bool dry_run = false;
};

// Lets a request on, holds it back for a while, or refuses it. Immutable but for the zone's table; called by
// all loops.
class RateFilter final : public http::RequestFilter {
 public:
  RateFilter(std::shared_ptr<Zone> zone, http::LimitKey key, const FilterOptions& options)
      : zone_(std::move(zone)), key_(std::move(key)), options_(options) {}

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override;

 private:
  http::Verdict admit(http::Exchange& exchange, const RateTable::Decision& decision) const noexcept;
  http::Verdict refuse(http::Exchange& exchange, const RateTable::Decision& decision) const noexcept;

  const std::shared_ptr<Zone> zone_;
  const http::LimitKey key_;
  const FilterOptions options_;
};

}  // namespace roost::modules::rate_limit
