#include "modules/push/subscribe_request.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/hex.h"
#include "http/accept.h"
#include "http/ascii.h"
#include "http/date.h"
#include "http/query.h"
#include "http/token_list.h"

namespace roost::modules::push {
namespace {

using http::FieldId;
using hub::MessageId;

// An id in percent-encoding. Nothing where it is none.
std::optional<MessageId> parseEncoded(std::string_view text) noexcept {
  std::array<char, MessageId::kMaxText> decoded{};
  size_t size = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (size == decoded.size()) return std::nullopt;
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hexValue(text[i + 1]);
      const int low = hexValue(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    decoded[size++] = c;
  }
  return MessageId::parse({decoded.data(), size});
}

std::string_view argumentOf(std::string_view query, std::string_view key) noexcept {
  for (http::QueryArgument argument; http::nextArgument(query, argument);) {
    if (argument.has_value && argument.name == key) return argument.value;
  }
  return {};
}

Asked asked(const std::optional<MessageId>& parsed, MessageId& id) noexcept {
  if (!parsed) return Asked::kMalformed;
  id = *parsed;
  return Asked::kId;
}

// If-Modified-Since has the time, If-None-Match the tag, which alone says all that is needed.
Asked readConditions(const http::RequestHead& head, int64_t now_s, MessageId& id) noexcept {
  bool found = false;
  bool tagged = false;
  for (http::TokenList tags(head, FieldId::kIfNoneMatch); !found && tags.next();) {
    tagged = true;
    found = id.parseTag(tags.element());
  }
  if (tagged && !found) id = MessageId::makeForeign(0);
  const bool once = (head.repeated & http::fieldBit(FieldId::kIfModifiedSince)) == 0;
  if (head.has(FieldId::kIfModifiedSince) && once) {
    const auto time_s = http::parseHttpDate(head.get(FieldId::kIfModifiedSince), now_s);
    if (time_s) id.time_s = *time_s;
    found = found || time_s.has_value();
  }
  // An empty one without a date: all there is may be news.
  return found || head.has(FieldId::kIfNoneMatch) ? Asked::kId : Asked::kNothing;
}

}  // namespace

Asked readPosition(const http::Exchange& exchange, std::string_view query_key, std::string_view header_name,
                   MessageId& id) {
  id = {};
  const http::RequestHead& head = exchange.request();
  if (!header_name.empty()) {
    const std::string_view text = head.get(header_name);
    if (!text.empty()) return asked(MessageId::parse(text), id);
  }
  const std::string_view last = head.get(FieldId::kLastEventId);
  if (!last.empty()) return asked(MessageId::parse(last).value_or(MessageId::makeForeign(0)), id);
  if (!query_key.empty()) {
    const std::string_view text = argumentOf(exchange.query(), query_key);
    if (!text.empty()) return asked(parseEncoded(text), id);
  }
  return readConditions(head, exchange.context().date().seconds(), id);
}

bool asksForEvents(const http::RequestHead& head) noexcept {
  constexpr std::string_view kEvents = "text/event-stream";
  bool named = false;
  for (http::TokenList list(head, FieldId::kAccept); !named && list.next();) {
    const std::string_view element = list.element();
    named = http::equalsToken(http::trimOws(element.substr(0, element.find(';'))), kEvents);
  }
  if (!named) return false;
  const int events = http::qualityOf(head, kEvents);
  return events > 0 && events >= http::qualityOf(head, "application/octet-stream");
}

bool asksForWebSocket(const http::RequestHead& head) noexcept {
  for (http::TokenList list(head, FieldId::kUpgrade); list.next();) {
    if (http::equalsToken(list.element(), "websocket")) return true;
  }
  return false;
}

}  // namespace roost::modules::push
