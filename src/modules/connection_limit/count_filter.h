#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/count_table.h"
#include "base/sip_hash.h"
#include "http/exchange.h"
#include "http/handler.h"
#include "http/limits/limit_key.h"

namespace roost::modules::connection_limit {

// What places of one zone share. Any thread.
struct Zone {
  SipKey secret;
  std::unique_ptr<CountTable> table;
};

struct FilterOptions {
  uint32_t max = 0;
  uint32_t retry_after_s = 1;  // 0: no field
  int status = 503;
  bool dry_run = false;
};

// Counts a request from here to its end, or refuses it. Immutable but for the zone's table; called by all
// loops.
class CountFilter final : public http::RequestFilter {
 public:
  CountFilter(std::shared_ptr<Zone> zone, http::LimitKey key, const FilterOptions& options)
      : zone_(std::move(zone)), key_(std::move(key)), options_(options) {}

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override;

 private:
  http::Verdict refuse(http::Exchange& exchange) const noexcept;

  const std::shared_ptr<Zone> zone_;
  const http::LimitKey key_;
  const FilterOptions options_;
};

}  // namespace roost::modules::connection_limit
