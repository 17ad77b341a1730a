#include "http/field_id.h"

#include <array>

#include "http/ascii.h"
#include "http/field_table.h"

namespace roost::http {
namespace {

struct KnownField {
  FieldId id;
  std::string_view name;
};

constexpr KnownField kKnown[] = {
    {FieldId::kAccept, "Accept"},
    {FieldId::kAcceptEncoding, "Accept-Encoding"},
    {FieldId::kAuthorization, "Authorization"},
    {FieldId::kCacheControl, "Cache-Control"},
    {FieldId::kConnection, "Connection"},
    {FieldId::kContentEncoding, "Content-Encoding"},
    {FieldId::kContentLength, "Content-Length"},
    {FieldId::kContentType, "Content-Type"},
    {FieldId::kCookie, "Cookie"},
    {FieldId::kExpect, "Expect"},
    {FieldId::kForwarded, "Forwarded"},
    {FieldId::kHost, "Host"},
    {FieldId::kIfMatch, "If-Match"},
    {FieldId::kIfModifiedSince, "If-Modified-Since"},
    {FieldId::kIfNoneMatch, "If-None-Match"},
    {FieldId::kIfRange, "If-Range"},
    {FieldId::kIfUnmodifiedSince, "If-Unmodified-Since"},
    {FieldId::kKeepAlive, "Keep-Alive"},
    {FieldId::kLastEventId, "Last-Event-ID"},
    {FieldId::kLocation, "Location"},
    {FieldId::kOrigin, "Origin"},
    {FieldId::kProxyConnection, "Proxy-Connection"},
    {FieldId::kRange, "Range"},
    {FieldId::kReferer, "Referer"},
    {FieldId::kSecWebsocketAccept, "Sec-WebSocket-Accept"},
    {FieldId::kSecWebsocketExtensions, "Sec-WebSocket-Extensions"},
    {FieldId::kSecWebsocketKey, "Sec-WebSocket-Key"},
    {FieldId::kSecWebsocketProtocol, "Sec-WebSocket-Protocol"},
    {FieldId::kSecWebsocketVersion, "Sec-WebSocket-Version"},
    {FieldId::kTe, "TE"},
    {FieldId::kTrailer, "Trailer"},
    {FieldId::kTransferEncoding, "Transfer-Encoding"},
    {FieldId::kUpgrade, "Upgrade"},
    {FieldId::kUserAgent, "User-Agent"},
    {FieldId::kVia, "Via"},
    {FieldId::kXForwardedFor, "X-Forwarded-For"},
    {FieldId::kXRequestId, "X-Request-ID"},
};
static_assert(std::size(kKnown) == kFieldIdCount - 1,
              "every id but kOther has a name here, in the order of the enum");

constexpr uint32_t pairAt(std::string_view name, size_t at) noexcept {
  return static_cast<uint32_t>(static_cast<unsigned char>(name[at])) |
         static_cast<uint32_t>(static_cast<unsigned char>(name[at + 1])) << 8;
}

constexpr uint32_t slotOf(std::string_view name) noexcept {
  return fieldHash(pairAt(name, 0), pairAt(name, name.size() - 2), static_cast<uint32_t>(name.size()));
}

constexpr bool isPerfect() noexcept {
  std::array<bool, 1U << kFieldSlotBits> taken{};
  for (const KnownField& known : kKnown) {
    if (taken[slotOf(known.name)]) return false;
    taken[slotOf(known.name)] = true;
  }
  return true;
}
static_assert(isPerfect(), "two known names share a slot: choose another kFieldSeed");

constexpr FieldSlots makeSlots() noexcept {
  FieldSlots slots{};
  for (const KnownField& known : kKnown) {
    FieldSlot& slot = slots.at[slotOf(known.name)];
    for (size_t i = 0; i < known.name.size(); ++i) slot.name[i] = lowerAscii(known.name[i]);
    slot.len = static_cast<uint8_t>(known.name.size());
    slot.id = known.id;
  }
  return slots;
}

}  // namespace

const FieldSlots kFieldSlots = makeSlots();

FieldId fieldId(std::string_view name) noexcept {
  if (name.size() < kFieldNameMin || name.size() > kFieldNameMax) return FieldId::kOther;
  const FieldSlot& slot = kFieldSlots.at[slotOf(name)];
  if (slot.len != name.size()) return FieldId::kOther;
  for (size_t i = 0; i < name.size(); ++i) {
    if (lowerAscii(name[i]) != slot.name[i]) return FieldId::kOther;
  }
  return slot.id;
}

std::string_view fieldName(FieldId id) noexcept {
  const auto index = static_cast<size_t>(id);
  return index == 0 || index >= kFieldIdCount ? std::string_view{} : kKnown[index - 1].name;
}

}  // namespace roost::http
