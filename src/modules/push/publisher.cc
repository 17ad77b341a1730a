#include "modules/push/publisher.h"

#include <utility>

#include "http/exchange.h"
#include "metrics/registry.h"
#include "net/address_hash.h"

namespace roost::modules::push {
namespace {

using ::roost::push::PublishResult;
using ::roost::push::PublishStatus;

// How many clients and channels are told apart at a time.
constexpr uint64_t kMostSources = 1 << 16;

constexpr std::array<const char*, kRefusalCount> kRefusalNames = {"size", "name",     "field",    "forbidden",
                                                                  "rate", "channels", "overload", "memory"};

Status openCounters(std::vector<PublishCounters>& loops, const std::string& route, metrics::Registry& metrics,
                    size_t loop_count) {
  loops.resize(loop_count);
  for (PublishCounters& loop : loops) {
    loop.messages = &metrics.counter(
        {"roost_push_published_total", "Messages that were published by a route.", ""}, {{"route", route}});
    loop.bytes =
        &metrics.counter({"roost_push_published_bytes_total", "Their content.", "bytes"}, {{"route", route}});
    loop.queued =
        &metrics.counter({"roost_push_publish_queued_total",
                          "Messages that waited until they could be delivered, and were published.", ""},
                         {{"route", route}});
    for (size_t i = 0; i < kRefusalCount; ++i) {
      loop.refused[i] =
          &metrics.counter({"roost_push_publish_refused_total", "Messages that a route did not publish.", ""},
                           {{"route", route}, {"reason", kRefusalNames[i]}});
    }
  }
  return {};
}

Refusal refusalOf(PublishStatus status) noexcept {
  switch (status) {
    case PublishStatus::kTooManyChannels:
      return Refusal::kChannels;
    case PublishStatus::kNoMemory:
      return Refusal::kMemory;
    case PublishStatus::kKeyReused:
      return Refusal::kField;
    case PublishStatus::kOverloaded:
    case PublishStatus::kPublished:
      break;
  }
  return Refusal::kOverload;
}

}  // namespace

Result<std::shared_ptr<const Publisher>> Publisher::make(const PublishOptions& options,
                                                         std::string_view route, Runtime& runtime) {
  std::unique_ptr<RateTable> rates;
  if (options.max_per_second != 0) {
    auto made = RateTable::create({options.max_per_second, 1, options.max_per_second}, kMostSources);
    if (!made.ok()) return made.status();
    rates = std::move(made).value();
  }
  return std::shared_ptr<const Publisher>(new Publisher(options, route, runtime, std::move(rates)));
}

Publisher::Publisher(const PublishOptions& options, std::string_view route, Runtime& runtime,
                     std::unique_ptr<RateTable> rates)
    : options_(options), rates_(std::move(rates)), runtime_(runtime) {
  const Status status = runtime.whenStarted(
      [counters = counters_, name = std::string(route)](metrics::Registry& metrics, size_t loop_count) {
        return openCounters(*counters, name, metrics, loop_count);
      });
  static_cast<void>(status);  // counters can be had
}

uint64_t Publisher::sourceOf(const http::Exchange& exchange) const noexcept {
  if (rates_ == nullptr) return 0;
  return net::AddressHash(secret_, net::AddressHash::kUsualPrefixBits)(exchange.client());
}

int64_t Publisher::admit(uint64_t source, std::string_view channel, int64_t now_ns) const noexcept {
  if (rates_ == nullptr) return 0;
  const RateTable::Decision decision =
      rates_->take(sipHash13({secret_.low ^ source, secret_.high}, channel), now_ns);
  return decision.admitted ? 0 : rates_->retryAfterNs(decision);
}

void Publisher::publish(const http::LoopContext& context, std::string_view channel,
                        ::roost::push::Publication message,
                        std::unique_ptr<::roost::push::PublishCall> call) const noexcept {
  message.history_messages = options_.history_messages;
  message.history_s = options_.history_s;
  runtime_.shard(context).publish(channel, std::move(message), std::move(call));
}

void PublishCounters::count(const PublishResult& result, size_t message_bytes) const noexcept {
  if (result.status != PublishStatus::kPublished) return count(refusalOf(result.status));
  if (result.repeated) return;
  if (result.queued) queued->add();
  messages->add();
  bytes->add(message_bytes);
}

void PublishCounters::count(Refusal why) const noexcept {
  refused[static_cast<size_t>(why)]->add();
}

int statusOf(const PublishResult& result) noexcept {
  switch (result.status) {
    case PublishStatus::kPublished:
      return result.channel.subscribers > 0 ? 201 : 202;
    case PublishStatus::kNoMemory:
      return 507;
    case PublishStatus::kKeyReused:
      return 422;
    case PublishStatus::kTooManyChannels:
    case PublishStatus::kOverloaded:
      break;
  }
  return 503;
}

std::string_view textOf(PublishStatus status) noexcept {
  switch (status) {
    case PublishStatus::kTooManyChannels:
      return "there are as many channels as there may be";
    case PublishStatus::kNoMemory:
      return "there is no memory for the message";
    case PublishStatus::kKeyReused:
      return "this idempotency key came with another message before";
    case PublishStatus::kOverloaded:
      return "too many messages wait to be delivered";
    case PublishStatus::kPublished:
      break;
  }
  return {};
}

}  // namespace roost::modules::push
