#include "modules/push/publish_request.h"

#include <algorithm>
#include <charconv>

#include "http/message.h"
#include "http/query.h"

namespace roost::modules::push {
namespace {

// The value of an argument of the query, as sent; false: it is not there.
bool findArgument(std::string_view query, std::string_view name, std::string_view& value) noexcept {
  for (http::QueryArgument argument; http::nextArgument(query, argument);) {
    if (argument.name != name) continue;
    value = argument.value;
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

std::string_view faultOf(const ::roost::push::Publication& message) noexcept {
  if (!mayStandInLine(message.content_type))
    return "the content type is longer than 255 bytes, or holds a control character";
  if (!mayStandInLine(message.event))
    return "the event's name is longer than 255 bytes, or holds a control character";
  if (message.event == kReservedEvent) return "\"gap\" is the event that lost messages are told by";
  if (!mayStandInLine(message.idempotency_key))
    return "the idempotency key is longer than 255 bytes, or holds a control character";
  return {};
}

std::string_view readPublication(const http::RequestHead& head, std::string_view query, uint32_t max_wait_ms,
                                 ::roost::push::Publication& message) {
  message.content_type = head.get(http::FieldId::kContentType);
  message.event = head.get("X-EventSource-Event");
  message.idempotency_key = head.get("Idempotency-Key");
  const std::string_view fault = faultOf(message);
  if (!fault.empty()) return fault;
  std::string_view wait;
  if (max_wait_ms > 0 && findArgument(query, "wait", wait) && !readNumber(wait, max_wait_ms, message.wait_ms))
    return "wait is no number of milliseconds, or more than may be asked for";
  return {};
}

}  // namespace roost::modules::push
