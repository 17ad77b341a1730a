#include "http/h1/framing.h"

#include <algorithm>

#include "http/token_list.h"

namespace roost::http::h1 {
namespace {

constexpr uint64_t kFramingFields = fieldBit(FieldId::kContentLength) | fieldBit(FieldId::kTransferEncoding) |
                                    fieldBit(FieldId::kConnection) | fieldBit(FieldId::kExpect);

constexpr bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Calls visit(member) for each member of the comma-separated list that all lines of a field make together
// (RFC 9110 section 5.6.1), empty members left out. Unlike TokenList it knows no quoted strings: none of
// these fields has a use for one, and a recipient that does not look for quotes would find other members.
template <class Visit>
void forEachMember(const HeadFields& head, FieldId id, Visit visit) noexcept {
  for (const Field* field = head.find(id); field != nullptr; field = head.nextOf(*field)) {
    std::string_view rest = head.value(*field);
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view member = trimOws(rest.substr(0, comma));
      if (!member.empty()) visit(member);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
}

void refuse(FramingResult& result, int status, const char* reason) noexcept {
  result.keep_alive = false;
  result.error_status = status;
  result.error_reason = reason;
}

void readHost(const RequestHead& head, FramingResult& result) noexcept {
  const Field* host = head.find(FieldId::kHost);
  if (host == nullptr) {
    if (head.version_minor > 0) refuse(result, 400, "Host is missing");
  } else if (host->next != 0) {
    refuse(result, 400, "more than one Host");
  }
}

void readConnection(const RequestHead& head, FramingResult& result) noexcept {
  bool close = false;
  bool keep_alive = false;
  forEachMember(head, FieldId::kConnection, [&](std::string_view option) {
    if (equalsToken(option, "close")) close = true;
    if (equalsToken(option, "keep-alive")) keep_alive = true;
    if (equalsToken(option, "upgrade")) result.upgrade = true;
  });
  result.keep_alive = !close && (head.version_minor > 0 || keep_alive);
}

// What is wrong with a Content-Length; nullptr: nothing, and `length` is set.
const char* parseLength(std::string_view digits, uint64_t& length) noexcept {
  if (digits.empty()) return "empty Content-Length";
  uint64_t value = 0;
  for (const char c : digits) {
    if (!isDigit(c)) return "Content-Length is not a number";
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (static_cast<uint64_t>(INT64_MAX) - digit) / 10) return "Content-Length is too large";
    value = value * 10 + digit;
  }
  length = value;
  return nullptr;
}

void readContentLength(const RequestHead& head, const Field& field, FramingResult& result) noexcept {
  if (field.next != 0) return refuse(result, 400, "more than one Content-Length");
  if (const char* reason = parseLength(head.value(field), result.content_length)) {
    return refuse(result, 400, reason);
  }
  result.kind = BodyKind::kLength;
}

// What is wrong with a Transfer-Encoding that is there; nullptr: nothing, it is chunked.
struct CodingFault {
  int status;
  const char* reason;
};
CodingFault readCodings(const HeadFields& head) noexcept {
  if (head.version_minor == 0) return {400, "Transfer-Encoding in HTTP/1.0"};
  if (head.has(FieldId::kContentLength)) return {400, "both Transfer-Encoding and Content-Length"};
  unsigned chunked = 0;
  unsigned others = 0;
  bool chunked_last = false;
  bool malformed = false;
  forEachMember(head, FieldId::kTransferEncoding, [&](std::string_view coding) {
    chunked_last = equalsToken(coding, "chunked");
    if (chunked_last) {
      ++chunked;
      return;
    }
    ++others;
    // A known word behind quotes, a parameter or the like is an attempt, not another coding.
    malformed = malformed || !std::all_of(coding.begin(), coding.end(), [](char c) {
                  return isDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-';
                });
  });
  if (malformed) return {400, "malformed Transfer-Encoding"};
  if (chunked > 1) return {400, "chunked more than once"};
  // Without chunked at the end the length cannot be known (section 6.3); with it, the codings before it are
  // merely unknown.
  if (!chunked_last) return {400, "chunked is not last"};
  if (others != 0) return {501, "transfer coding not supported"};
  return {0, nullptr};
}

void readTransferEncoding(const RequestHead& head, FramingResult& result) noexcept {
  const CodingFault fault = readCodings(head);
  if (fault.reason != nullptr) return refuse(result, fault.status, fault.reason);
  result.kind = BodyKind::kChunked;
}

void readExpect(const RequestHead& head, FramingResult& result) noexcept {
  bool other = false;
  bool expects = false;
  forEachMember(head, FieldId::kExpect, [&](std::string_view expectation) {
    (equalsToken(expectation, "100-continue") ? expects : other) = true;
  });
  // RFC 9110 section 10.1.1: ignored in HTTP/1.0, and where no content follows.
  if (head.version_minor == 0) return;
  if (other) return refuse(result, 417, "expectation not supported");
  const bool has_body = result.kind == BodyKind::kChunked || result.content_length > 0;
  result.expects_continue = expects && has_body;
}

void readConnection(const HeadFields& head, ResponseFraming& result) noexcept {
  bool close = false;
  bool keep_alive = false;
  forEachMember(head, FieldId::kConnection, [&](std::string_view option) {
    if (equalsToken(option, "close")) close = true;
    if (equalsToken(option, "keep-alive")) keep_alive = true;
  });
  result.keep_alive = !close && (head.version_minor > 0 || keep_alive);
}

// The timeout of "Keep-Alive: timeout=5, max=100", which no standard defines and many servers send. What
// cannot be read says nothing.
uint16_t keepAliveSeconds(const HeadFields& head) noexcept {
  constexpr std::string_view kName = "timeout=";
  uint16_t seconds = 0;
  forEachMember(head, FieldId::kKeepAlive, [&](std::string_view member) {
    if (member.size() <= kName.size() || !equalsToken(member.substr(0, kName.size()), kName)) return;
    uint64_t value = 0;
    if (parseLength(member.substr(kName.size()), value) == nullptr) {
      seconds = static_cast<uint16_t>(std::min<uint64_t>(value, UINT16_MAX));
    }
  });
  return seconds;
}

// Every member of every line must be the same number.
const char* readLengths(const HeadFields& head, ResponseFraming& result) noexcept {
  const char* reason = nullptr;
  bool first = true;
  forEachMember(head, FieldId::kContentLength, [&](std::string_view member) {
    uint64_t length = 0;
    const char* const fault = parseLength(member, length);
    if (fault != nullptr && reason == nullptr) reason = fault;
    if (!first && length != result.content_length && reason == nullptr) reason = "differing Content-Lengths";
    result.content_length = length;
    first = false;
  });
  return first ? "empty Content-Length" : reason;
}

const char* readBody(const HeadFields& head, ResponseFraming& result) noexcept {
  if (head.has(FieldId::kTransferEncoding)) {
    result.kind = BodyKind::kChunked;
    return readCodings(head).reason;
  }
  if (head.has(FieldId::kContentLength)) {
    result.kind = BodyKind::kLength;
    return readLengths(head, result);
  }
  result.kind = BodyKind::kUntilClose;
  result.keep_alive = false;
  return nullptr;
}

bool announcesContent(const HeadFields& head) noexcept {
  ResponseFraming length;
  if (head.has(FieldId::kTransferEncoding)) return true;
  return head.has(FieldId::kContentLength) &&
         (readLengths(head, length) != nullptr || length.content_length != 0);
}

}  // namespace

FramingResult requestFraming(const RequestHead& head) noexcept {
  FramingResult result;
  result.keep_alive = head.version_minor > 0;
  readHost(head, result);
  if ((head.present & kFramingFields) == 0 || result.error_status != 0) return result;
  readConnection(head, result);
  const Field* const length = head.find(FieldId::kContentLength);
  if (head.has(FieldId::kTransferEncoding)) {
    readTransferEncoding(head, result);
  } else if (length != nullptr) {
    readContentLength(head, *length, result);
  }
  if (result.error_status == 0 && head.has(FieldId::kExpect)) readExpect(head, result);
  return result;
}

ResponseFraming responseFraming(const HeadFields& head, int status, Method method) noexcept {
  ResponseFraming result;
  result.keep_alive = head.version_minor > 0;
  if ((head.present & fieldBit(FieldId::kConnection)) != 0) readConnection(head, result);
  if (head.has(FieldId::kKeepAlive)) result.keep_alive_s = keepAliveSeconds(head);
  if (status < 200 || status == 204) {
    // Whoever announces content of a 204 may also send it, and it would be taken for the next answer.
    if (status == 101 || (status == 204 && announcesContent(head))) result.keep_alive = false;
    return result;
  }
  if (method == Method::kConnect && status < 300) {
    result.kind = BodyKind::kUntilClose;
    result.keep_alive = false;
    return result;
  }
  ResponseFraming body = result;
  const char* const fault = readBody(head, body);
  if (fault != nullptr) {
    result.keep_alive = false;
    result.error_reason = fault;
  } else if (method != Method::kHead && status != 304) {
    result = body;
  }
  return result;
}

}  // namespace roost::http::h1
