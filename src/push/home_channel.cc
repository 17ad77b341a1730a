#include "push/home_channel.h"

#include <algorithm>

namespace roost::push {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

SipKey second(const SipKey& secret) noexcept {
  return {~secret.low, ~secret.high};
}

}  // namespace

const IdempotencyKeys::Entry* IdempotencyKeys::find(const SipKey& secret, std::string_view key,
                                                    int64_t now_ns) noexcept {
  age(now_ns);
  const uint64_t low = sipHash13(secret, key);
  const uint64_t high = sipHash13(second(secret), key);
  for (const Entry& entry : entries_) {
    if (entry.low == low && entry.high == high) return &entry;
  }
  return nullptr;
}

void IdempotencyKeys::remember(const SipKey& secret, std::string_view key, uint64_t content, int64_t now_ns,
                               const PublishResult& result, uint32_t most) {
  if (entries_.size() >= most) entries_.erase(entries_.begin());
  if (entries_.size() == entries_.capacity())
    entries_.reserve(std::min<size_t>(std::max<size_t>(2, entries_.size() * 2), most));
  entries_.push_back({sipHash13(secret, key), sipHash13(second(secret), key), content, now_ns, result});
}

uint64_t IdempotencyKeys::contentHash(const SipKey& secret, const Publication& publication) noexcept {
  uint64_t hash = 0;
  for (const std::string_view part : {publication.payload.view(), std::string_view(publication.content_type),
                                      std::string_view(publication.event)})
    hash = sipHash13({secret.low ^ hash, secret.high}, part);
  return hash;
}

void IdempotencyKeys::age(int64_t now_ns) noexcept {
  const auto young = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return now_ns - entry.since_ns < kAgeNs; });
  entries_.erase(entries_.begin(), young);
}

void HomeChannel::add(const Message::Ref& message, uint32_t most, uint32_t seconds) {
  last = message->id();
  most_messages = most;
  most_s = seconds;
  history.push(message);
  while (history.size() > most_messages) popOldest();
  age(message->publishedNs());
}

void HomeChannel::age(int64_t now_ns) noexcept {
  while (!history.empty() && dueNs() <= now_ns) popOldest();
}

void HomeChannel::popOldest() noexcept {
  trimmed_time_s = history.at(history.first())->id().time_s;
  history.pop();
}

int64_t HomeChannel::dueNs() const noexcept {
  if (history.empty() || most_s == 0) return INT64_MAX;
  return history.at(history.first())->publishedNs() + most_s * kSecondNs;
}

HomeChannel::Attachment* HomeChannel::attachmentOf(uint32_t shard) noexcept {
  for (Attachment& attachment : attachments) {
    if (attachment.shard == shard) return &attachment;
  }
  return nullptr;
}

void HomeChannel::attach(uint32_t shard, uint32_t serial) {
  if (Attachment* known = attachmentOf(shard)) {
    known->serial = serial;
    return;
  }
  attachments.reserve(attachments.size() + 1);  // few, and rarely: no more than there are
  attachments.push_back({shard, serial});
}

void HomeChannel::detach(uint32_t shard, uint32_t serial) noexcept {
  Attachment* known = attachmentOf(shard);
  if (known == nullptr || known->serial != serial) return;
  *known = attachments.back();
  attachments.pop_back();
  if (attachments.empty()) std::vector<Attachment>().swap(attachments);
}

}  // namespace roost::push
