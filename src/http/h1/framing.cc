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
void forEachMember(const RequestHead& head, FieldId id, Visit visit) noexcept {
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

void readContentLength(const RequestHead& head, const Field& field, FramingResult& result) noexcept {
  if (field.next != 0) return refuse(result, 400, "more than one Content-Length");
  const std::string_view digits = head.value(field);
  if (digits.empty()) return refuse(result, 400, "empty Content-Length");
  uint64_t length = 0;
  for (const char c : digits) {
    if (!isDigit(c)) return refuse(result, 400, "Content-Length is not a number");
    const auto digit = static_cast<uint64_t>(c - '0');
    if (length > (static_cast<uint64_t>(INT64_MAX) - digit) / 10) {
      return refuse(result, 400, "Content-Length is too large");
    }
    length = length * 10 + digit;
  }
  result.kind = BodyKind::kLength;
  result.content_length = length;
}

void readTransferEncoding(const RequestHead& head, FramingResult& result) noexcept {
  if (head.version_minor == 0) return refuse(result, 400, "Transfer-Encoding in HTTP/1.0");
  if (head.has(FieldId::kContentLength)) {
    return refuse(result, 400, "both Transfer-Encoding and Content-Length");
  }
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
  if (malformed) return refuse(result, 400, "malformed Transfer-Encoding");
  if (chunked > 1) return refuse(result, 400, "chunked more than once");
  // Without chunked at the end the length cannot be known (section 6.3); with it, the codings before it are
  // merely unknown.
  if (!chunked_last) return refuse(result, 400, "chunked is not last");
  if (others != 0) return refuse(result, 501, "transfer coding not supported");
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

}  // namespace roost::http::h1
