#include "modules/connection_limit/count_filter.h"

#include <fmt/format.h>

#include "log/log.h"

namespace roost::modules::connection_limit {
namespace {

// One request that is counted. A parked exchange has let go of its Service, so the table is held here.
class Place final : public http::Attachment {
 public:
  Place(std::shared_ptr<Zone> zone, uint64_t hash) noexcept : zone_(std::move(zone)), hash_(hash) {}
  ~Place() override { zone_->table->leave(hash_); }

 private:
  const std::shared_ptr<Zone> zone_;
  const uint64_t hash_;
};

}  // namespace

http::Verdict CountFilter::onRequest(http::Exchange& exchange) const noexcept {
  if (!exchange.countsFirst(this)) return http::Verdict::kContinue;
  uint64_t hash = 0;
  if (!key_.hash(exchange, zone_->secret, hash)) {
    if (auto* trace = exchange.trace())
      trace->note("connection limit: the key is empty, so it is not counted");
    return http::Verdict::kContinue;
  }
  switch (zone_->table->enter(hash, options_.max)) {
    case CountTable::Entry::kRefused:
      return refuse(exchange);
    case CountTable::Entry::kUncounted:
      LOG_EVERY_SECOND(WARN, "connection_limit: more clients at once than max_keys; some are not counted");
      break;
    case CountTable::Entry::kCounted:
      exchange.attach(std::make_unique<Place>(zone_, hash));
      break;
  }
  if (auto* trace = exchange.trace()) {
    trace->note(
        fmt::format("connection limit: {} at a time for \"{}\"", options_.max, key_.describe(exchange)));
  }
  return http::Verdict::kContinue;
}

http::Verdict CountFilter::refuse(http::Exchange& exchange) const noexcept {
  LOG_EVERY_SECOND(WARN, "{}: beyond {} requests at a time{}", exchange.client().toString(), options_.max,
                   options_.dry_run ? ", let in by dry_run" : "");
  if (auto* trace = exchange.trace()) {
    trace->note(fmt::format("connection limit: \"{}\" has {} requests under way already",
                            key_.describe(exchange), options_.max));
  }
  if (const http::HttpCounters* counters = exchange.context().counters()) counters->connection_limited.add();
  if (options_.dry_run) return http::Verdict::kContinue;
  http::ResponseHead extra(options_.status);
  if (options_.retry_after_s > 0) extra.addNumber("Retry-After", options_.retry_after_s);
  exchange.replyError(options_.status, &extra);
  return http::Verdict::kReplied;
}

}  // namespace roost::modules::connection_limit
