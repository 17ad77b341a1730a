#include "modules/access_log/record.h"

#include <algorithm>
#include <cstring>

#include "http/exchange.h"
#include "log/escape.h"

namespace roost::modules::access_log {
namespace {

constexpr int kClosedRequest = 499;
constexpr int kSwitchingProtocols = 101;

// No data: absent.
std::string_view orAbsent(std::string_view text) noexcept {
  return text.empty() ? std::string_view{} : text;
}

std::string_view field(const http::RequestHead& head, http::FieldId id) noexcept {
  const http::Field* found = head.find(id);
  return found == nullptr ? std::string_view{} : head.value(*found);
}

std::string_view siteName(const http::Exchange& exchange) noexcept {
  const std::vector<std::string>& hosts = exchange.route().site->hosts;
  return hosts.empty() ? std::string_view{} : std::string_view(hosts.front());
}

// What needs no exchange.
std::string_view textOf(const TextWanted& wanted, const http::RequestHead& head) noexcept {
  switch (wanted.kind) {
    case Text::kMethod:
      return orAbsent(head.view(head.method_text));
    case Text::kTarget:
      return orAbsent(head.view(head.target));
    case Text::kUserAgent:
      return field(head, http::FieldId::kUserAgent);
    case Text::kReferer:
      return field(head, http::FieldId::kReferer);
    case Text::kHeader:
      return head.get(wanted.name);
    case Text::kHost:
      return field(head, http::FieldId::kHost);
    case Text::kPath:
      return orAbsent(head.view(head.path));
    case Text::kQuery:
      return head.has_query ? head.view(head.query) : std::string_view{};
    default:
      return {};
  }
}

}  // namespace

Record::Record(const TextList& wanted, const http::Exchange& exchange) : count_(wanted.size()) {
  const http::RequestHead& head = exchange.request();
  head_.client = exchange.client();
  head_.version_minor = head.version_minor;
  head_.flags = exchange.scheme().size() == 5 ? RecordHead::kHttps : 0;
  const auto text = [&](const TextWanted& what) -> std::string_view {
    switch (what.kind) {
      case Text::kHost:
        return orAbsent(exchange.host());
      case Text::kPath:
        return exchange.path();
      case Text::kQuery:
        return orAbsent(exchange.query());
      case Text::kPeer:
        return peerText(exchange.peer());
      case Text::kRequestId:
        return exchange.requestId();
      case Text::kUser:
        return orAbsent(exchange.user());
      case Text::kSite:
        return siteName(exchange);
      default:
        return textOf(what, head);
    }
  };
  for (size_t i = 0; i < count_; ++i) texts_[i] = pieceOf(text(wanted[i]));
  measure(wanted);
}

Record::Record(const TextList& wanted, const http::UnroutedRequest& request, std::string_view request_id)
    : count_(wanted.size()) {
  head_.client = request.peer;
  head_.version_minor = request.head != nullptr ? request.head->version_minor : RecordHead::kNoVersion;
  head_.flags = request.head != nullptr ? 0 : RecordHead::kUnread;
  const auto text = [&](const TextWanted& what) -> std::string_view {
    if (what.kind == Text::kRequestId) return request_id;
    if (what.kind == Text::kPeer) return peerText(request.peer);
    if (request.head != nullptr) return textOf(what, *request.head);
    return what.kind == Text::kTarget ? orAbsent(request.received) : std::string_view{};
  };
  for (size_t i = 0; i < count_; ++i) texts_[i] = pieceOf(text(wanted[i]));
  measure(wanted);
}

void Record::measure(const TextList& wanted) noexcept {
  const size_t fixed = sizeof(RecordHead) + count_ * sizeof(uint16_t) + log::kEscapeSlack;
  size_t room = log::Stream::kMaxRecordBytes - fixed;
  bytes_ = fixed;
  for (size_t i = 0; i < count_; ++i) {
    Piece& text = texts_[i];
    if (text.data == nullptr) {
      text.size = 0;
      lengths_[i] = kAbsent;
      continue;
    }
    const size_t size = std::min({text.size, wanted[i].mostBytes(), room});
    lengths_[i] = static_cast<uint16_t>(size | (size < text.size ? kCut : 0));
    text.size = size;
    room -= size;
    bytes_ += size;
  }
}

int Record::statusOf(const http::Outcome& outcome) noexcept {
  return outcome.status != 0 ? outcome.status : kClosedRequest;
}

void Record::setOutcome(RecordHead& head, const http::Outcome& outcome) noexcept {
  head.content_bytes = outcome.content_bytes;
  head.duration_ns = outcome.duration_ns;
  head.upstream_ns = outcome.upstream_ns;
  head.status = static_cast<uint16_t>(statusOf(outcome));
  // A connection that has been given to another protocol has no other end.
  const bool aborted = outcome.aborted && outcome.status != kSwitchingProtocols;
  if (aborted) head.flags |= RecordHead::kAborted;
}

void Record::copyTo(char* to) const noexcept {
  std::memcpy(to, &head_, sizeof head_);
  to += sizeof head_;
  std::memcpy(to, lengths_.data(), count_ * sizeof(uint16_t));
  to += count_ * sizeof(uint16_t);
  for (size_t i = 0; i < count_; ++i) {
    const Piece& text = texts_[i];
    if (text.size != 0) std::memcpy(to, text.data, text.size);
    to += text.size;
  }
}

}  // namespace roost::modules::access_log
