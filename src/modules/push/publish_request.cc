#include "modules/push/publish_request.h"

#include <algorithm>
#include <charconv>

#include "http/message.h"

namespace roost::modules::push {
namespace {

// The value of an argument of the query, as sent; false: it is not there.
bool findArgument(std::string_view query, std::string_view name, std::string_view& value) noexcept {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.substr(0, pair.find('=')) != name) continue;
    value = pair.substr(std::min(pair.size(), name.size() + 1));
    return true;
  }
  return false;
}

// Whether it is one, up to `max`.
bool readNumber(std::string_view text, uint32_t max, uint32_t& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number <= max;
}

}  // namespace

bool mayStandInLine(std::string_view text) noexcept {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return text.size() <= kMaxFieldBytes && std::none_of(text.begin(), text.end(), is_control);
}

std::string_view readPublication(const http::RequestHead& head, std::string_view query, uint32_t max_wait_ms,
                                 ::roost::push::Publication& message) {
  const std::string_view type = head.get(http::FieldId::kContentType);
  if (!mayStandInLine(type)) return "Content-Type is longer than 255 bytes, or holds a control character";
  const std::string_view event = head.get("X-EventSource-Event");
  if (!mayStandInLine(event))
    return "X-EventSource-Event is longer than 255 bytes, or holds a control character";
  if (event == kReservedEvent) return "X-EventSource-Event: \"gap\" is what lost messages are told by";
  const std::string_view key = head.get("Idempotency-Key");
  if (!mayStandInLine(key)) return "Idempotency-Key is longer than 255 bytes, or holds a control character";
  std::string_view wait;
  if (max_wait_ms > 0 && findArgument(query, "wait", wait) && !readNumber(wait, max_wait_ms, message.wait_ms))
    return "wait is no number of milliseconds, or more than may be asked for";
  message.content_type = type;
  message.event = event;
  message.idempotency_key = key;
  return {};
}

}  // namespace roost::modules::push
