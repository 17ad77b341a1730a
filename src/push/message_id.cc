#include "push/message_id.h"

#include <fmt/format.h>

#include <charconv>

namespace roost::push {
namespace {

bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// The whole of `text` as a decimal number that fits; no sign, at least one digit.
template <class Number>
bool readNumber(std::string_view text, Number& out) noexcept {
  if (text.empty() || !isDigit(text.front())) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view unquoted(std::string_view tag) noexcept {
  if (tag.substr(0, 2) == "W/") tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  return tag;
}

}  // namespace

std::string MessageId::text() const {
  return fmt::format("{}:{}-{:08x}", time_s, seq, epoch);
}

std::string MessageId::tag() const {
  return fmt::format("{}-{:08x}", seq, epoch);
}

bool MessageId::parseTag(std::string_view tag) noexcept {
  seq = 0;
  epoch = 0;
  tag = unquoted(tag);
  const size_t dash = tag.find('-');
  if (dash == std::string_view::npos || tag.size() != dash + 9) return false;
  uint64_t number = 0;
  uint32_t making = 0;
  if (!readNumber(tag.substr(0, dash), number)) return false;
  const std::string_view hex = tag.substr(dash + 1);
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), making, 16);
  if (error != std::errc() || end != hex.data() + hex.size() || making == 0) return false;
  seq = number;
  epoch = making;
  return true;
}

std::optional<MessageId> MessageId::parse(std::string_view text) noexcept {
  if (text.size() > kMaxText) return std::nullopt;
  const size_t colon = text.find(':');
  MessageId id;
  if (!readNumber(text.substr(0, colon), id.time_s)) return std::nullopt;
  const std::string_view tag = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (!tag.empty() && !id.parseTag(tag)) return makeForeign(id.time_s);
  return id;
}

}  // namespace roost::push
