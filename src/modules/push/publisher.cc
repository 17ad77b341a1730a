#include "modules/push/publisher.h"

#include <utility>

#include "metrics/registry.h"

namespace roost::modules::push {
namespace {

using ::roost::push::PublishResult;
using ::roost::push::PublishStatus;

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
    case PublishStatus::kRateLimited:
      return Refusal::kRate;
    case PublishStatus::kNoMemory:
      return Refusal::kMemory;
    case PublishStatus::kOverloaded:
    case PublishStatus::kPublished:
      break;
  }
  return Refusal::kOverload;
}

}  // namespace

Publisher::Publisher(const PublishOptions& options, std::string_view route, Runtime& runtime)
    : options_(options), runtime_(runtime) {
  const Status status = runtime.whenStarted(
      [counters = counters_, name = std::string(route)](metrics::Registry& metrics, size_t loop_count) {
        return openCounters(*counters, name, metrics, loop_count);
      });
  static_cast<void>(status);  // counters can be had
}

void Publisher::publish(const http::LoopContext& context, std::string_view channel,
                        ::roost::push::Publication message,
                        std::unique_ptr<::roost::push::PublishCall> call) const noexcept {
  message.history_messages = options_.history_messages;
  message.history_s = options_.history_s;
  message.max_per_second = options_.max_per_second;
  runtime_.shard(context).publish(channel, std::move(message), std::move(call));
}

void PublishCounters::count(const PublishResult& result, size_t message_bytes) const noexcept {
  if (result.status != PublishStatus::kPublished) return count(refusalOf(result.status));
  if (result.repeated) return;
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
    case PublishStatus::kRateLimited:
      return 429;
    case PublishStatus::kNoMemory:
      return 507;
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
    case PublishStatus::kRateLimited:
      return "the channel gets messages faster than it may";
    case PublishStatus::kNoMemory:
      return "there is no memory for the message";
    case PublishStatus::kOverloaded:
      return "too many messages wait to be delivered";
    case PublishStatus::kPublished:
      break;
  }
  return {};
}

}  // namespace roost::modules::push
