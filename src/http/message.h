// The vocabulary of HTTP messages (RFC 9110): methods, statuses, field names, and the head of a request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::http {

enum class Method : uint8_t {
  kGet,
  kHead,
  kPost,
  kPut,
  kDelete,
  kConnect,
  kOptions,
  kTrace,
  kPatch,
  kUnknown
};

// The method's token; "" for kUnknown.
std::string_view methodName(Method method) noexcept;

// The fields that the server and its clients look at; every other name is kOther. The order is free, the
// values are indexes.
enum class FieldId : uint8_t {
  kOther,
  kAccept,
  kAcceptEncoding,
  kAuthorization,
  kCacheControl,
  kConnection,
  kContentEncoding,
  kContentLength,
  kContentType,
  kCookie,
  kExpect,
  kForwarded,
  kHost,
  kIfMatch,
  kIfModifiedSince,
  kIfNoneMatch,
  kIfRange,
  kIfUnmodifiedSince,
  kKeepAlive,
  kLastEventId,
  kLocation,
  kOrigin,
  kProxyConnection,
  kRange,
  kReferer,
  kSecWebsocketAccept,
  kSecWebsocketExtensions,
  kSecWebsocketKey,
  kSecWebsocketProtocol,
  kSecWebsocketVersion,
  kTe,
  kTrailer,
  kTransferEncoding,
  kUpgrade,
  kUserAgent,
  kVia,
  kXForwardedFor,
  kXRequestId,
  kCount  // not a field
};
constexpr size_t kFieldIdCount = static_cast<size_t>(FieldId::kCount);
static_assert(kFieldIdCount <= 64, "HeadFields keeps a bit for each");

// The bit of a field in HeadFields::present and ::repeated.
constexpr uint64_t fieldBit(FieldId id) noexcept {
  return uint64_t{1} << static_cast<unsigned>(id);
}

// A piece of the head's text, by place and not by pointer, so that the text may move to another buffer.
struct Span {
  uint32_t off = 0;
  uint32_t len = 0;
};

// One field line. Name as sent (any case), value without surrounding whitespace.
struct Field {
  uint32_t name_off;
  uint32_t value_off;
  uint32_t value_len;
  uint16_t name_len;
  FieldId id;
  uint8_t next;  // index of the next field of the same id (0: none; never 0 otherwise, as it comes later);
                 // kOther: 0
};
static_assert(sizeof(Field) == 16);

// RFC 9112 section 3.2.
enum class TargetForm : uint8_t { kOrigin, kAbsolute, kAuthority, kAsterisk };

// The text of a parsed head and its field lines. The text belongs to a read buffer; `text` points at its
// first byte and is moved with it. Part of a RequestHead, or of what a client has received; loop thread only.
struct HeadFields {
  static constexpr size_t kMaxFields = 128;
  static constexpr uint8_t kNoField = 0xff;

  const char* text = nullptr;
  uint32_t size = 0;          // bytes of the head, the empty line included
  uint8_t version_minor = 1;  // HTTP/1.<this>
  uint8_t field_count = 0;
  uint64_t present = 0;   // bit `id` is set where a field of that id came (kOther: any other name)
  uint64_t repeated = 0;  // likewise, where it came on more than one line; never kOther
  std::array<uint8_t, kFieldIdCount>
      first;                                // index of the first field of an id, kNoField where there is none
  std::array<uint8_t, kFieldIdCount> last;  // index of the last, only set where repeated has the bit
  std::array<Field, kMaxFields> fields;

  std::string_view view(Span span) const noexcept { return {text + span.off, span.len}; }
  std::string_view name(const Field& field) const noexcept { return {text + field.name_off, field.name_len}; }
  std::string_view value(const Field& field) const noexcept {
    return {text + field.value_off, field.value_len};
  }

  // Forgets everything: as good as new, for the price of what a head without fields takes.
  void clear() noexcept;
  // Appends a field line whose places and id are set, and links it to those of its id. False when the table
  // is full.
  bool addField(const Field& field) noexcept;

  bool has(FieldId id) const noexcept { return first[static_cast<size_t>(id)] != kNoField; }
  // The first field line of this id, nullptr where there is none. REQUIRES: id != kOther.
  const Field* find(FieldId id) const noexcept {
    const uint8_t index = first[static_cast<size_t>(id)];
    return index == kNoField ? nullptr : &fields[index];
  }
  // The next line of the same field, nullptr after the last.
  const Field* nextOf(const Field& field) const noexcept {
    return field.next == 0 ? nullptr : &fields[field.next];
  }
  // The value of the first line of a field, empty where there is none.
  std::string_view get(FieldId id) const noexcept {
    const Field* field = find(id);
    return field == nullptr ? std::string_view{} : value(*field);
  }
  // By any name, case-insensitively; a scan over the field lines.
  std::string_view get(std::string_view name) const noexcept;
};

// What a request's first line says, as places in the head's text.
struct RequestLine {
  Method method = Method::kUnknown;
  TargetForm form = TargetForm::kOrigin;
  bool has_query = false;
  Span method_text;
  Span target;  // as sent
  Span path;   // of the target, still percent-encoded, begins with '/'; "/" for an absolute form without one;
               // "*"
  Span query;  // without '?'
  Span authority;  // of an absolute or authority form; else empty
};

// A parsed request head. Owned by the session that parses; valid until the exchange ends or parks.
struct RequestHead : RequestLine, HeadFields {
  // Forgets everything, as HeadFields::clear().
  void clear() noexcept;
};

// The reason phrase of a status (RFC 9110 section 15), "" for one without.
std::string_view reasonPhrase(int status) noexcept;

}  // namespace roost::http
