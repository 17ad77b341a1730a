#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "log/escape.h"
#include "modules/access_log/line_format.h"

namespace roost::modules::access_log {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kMostValueBytes = 64;  // of a value that is no text

char* put(char* to, std::string_view text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

template <class Literal>
char* put(char* to, const Literal& literal) noexcept {
  if (literal.size <= Literal::kStep) {
    std::memcpy(to, literal.padded.data(), Literal::kStep);
  } else {
    std::memcpy(to, literal.padded.data(), literal.size);
  }
  return to + literal.size;
}

char* putNumber(char* to, uint64_t value) noexcept {
  return std::to_chars(to, to + 20, value).ptr;
}

char* putThreeDigits(char* to, unsigned value) noexcept {
  to[0] = static_cast<char>('0' + value / 100);
  to[1] = static_cast<char>('0' + value / 10 % 10);
  to[2] = static_cast<char>('0' + value % 10);
  return to + 3;
}

// A thousandth, as "12.345".
char* putThousandths(char* to, int64_t value) noexcept {
  const auto positive = static_cast<uint64_t>(value < 0 ? 0 : value);
  to = putNumber(to, positive / 1000);
  *to++ = '.';
  return putThreeDigits(to, static_cast<unsigned>(positive % 1000));
}

}  // namespace

// The texts of a record, in place.
struct LineWriter::Texts {
  std::array<const char*, kMostTexts> data;
  std::array<uint16_t, kMostTexts> length;
  size_t bytes = 0;

  Texts(const char* record, size_t count) noexcept {
    const char* const lengths = record + sizeof(RecordHead);
    std::memcpy(length.data(), lengths, count * sizeof(uint16_t));
    const char* at = lengths + count * sizeof(uint16_t);
    for (size_t i = 0; i < count; ++i) {
      data[i] = at;
      const size_t size = length[i] == kAbsent ? 0 : length[i] & ~kCut;
      at += size;
      bytes += size;
    }
  }
};

LineWriter::LineWriter(LineFormat format) : format_(std::move(format)) {
  fixed_bytes_ = format_.after_.padded.size() + log::kEscapeSlack;
  std::array<size_t, kMostTexts> uses{};
  const auto use = [&](uint8_t place) { most_uses_ = std::max(most_uses_, ++uses[place]); };
  for (const LineFormat::Part& part : format_.parts_) {
    fixed_bytes_ += part.before.padded.size() + kMostValueBytes;
    if (part.value == Value::kText) use(part.text);
    if (part.value != Value::kRequest) continue;
    use(format_.method_text_);
    use(format_.target_text_);
  }
}

void LineWriter::appendLine(const char* record, int64_t realtime_ns, log::LineBuffer& out) {
  now_ns_ = realtime_ns < 0 ? 0 : realtime_ns;
  if (const int64_t second = now_ns_ / kNsPerSecond; second != second_) setSecond(second);
  RecordHead head;
  std::memcpy(&head, record, sizeof head);
  const Texts texts(record, format_.texts_.size());
  const size_t start = out.size();
  out.reserve(start + fixed_bytes_ + log::kMostEscapedBytes * texts.bytes * most_uses_);
  char* to = out.data() + start;
  for (const LineFormat::Part& part : format_.parts_) {
    to = put(to, part.before);
    to = putPart(to, part, head, texts);
  }
  to = put(to, format_.after_);
  out.resize(static_cast<size_t>(to - out.data()));
}

char* LineWriter::putPart(char* to, const LineFormat::Part& part, const RecordHead& head,
                          const Texts& texts) noexcept {
  switch (part.value) {
    case Value::kText:
      return putText(to, texts, part.text, part.quoted);
    case Value::kTime:
      to = put(to, std::string_view(utc_text_.data(), utc_text_.size()));
      to = putThreeDigits(to, static_cast<unsigned>(now_ns_ % kNsPerSecond / 1'000'000));
      *to++ = 'Z';
      return to;
    case Value::kTimeLocal:
      return put(to, std::string_view(local_text_.data(), local_text_.size()));
    case Value::kTimeUnix:
      return putThousandths(to, now_ns_ / 1'000'000);
    case Value::kClient:
      return putAddress(to, head.client);
    case Value::kClientPort:
      return putNumber(to, head.client.port);
    case Value::kRequest:
      return putRequest(to, head, texts);
    case Value::kScheme:
      return put(to, std::string_view("https", (head.flags & RecordHead::kHttps) != 0 ? 5 : 4));
    case Value::kProtocol:
      return putProtocol(to, head, part.quoted);
    case Value::kStatus:
      return putThreeDigits(to, head.status);
    case Value::kBytes:
      return putNumber(to, head.content_bytes);
    case Value::kDurationMs:
      return putThousandths(to, head.duration_ns / 1000);
    case Value::kDurationSeconds:
      return putThousandths(to, head.duration_ns / 1'000'000);
    case Value::kUpstreamMs:
      return putUpstream(to, head, part.quoted);
    case Value::kAborted:
      return put(to, std::string_view((head.flags & RecordHead::kAborted) != 0 ? "true" : "false"));
  }
  return to;
}

// What a value that is not there looks like; `quoted` is of JSON's own, whose quotes are put with the value.
char* LineWriter::putAbsent(char* to, bool quoted) const noexcept {
  if (quoted) return put(to, std::string_view("null"));
  if (format_.escape_ == Escape::kHex) *to++ = '-';
  return to;
}

char* LineWriter::putEscaped(char* to, const char* text, size_t size) const noexcept {
  return format_.escape_ == Escape::kJson ? log::putJsonEscaped(to, text, size)
                                          : log::putHexEscaped(to, text, size);
}

// A record's texts have log::kEscapeSlack bytes behind them, and a line's room as many.
char* LineWriter::putPlain(char* to, const char* text, size_t size) noexcept {
  static_assert(log::kEscapeSlack >= kPlainStep);
  if (size <= kPlainStep) {
    std::memcpy(to, text, kPlainStep);
  } else {
    std::memcpy(to, text, size);
  }
  return to + size;
}

char* LineWriter::putText(char* to, const Texts& texts, uint8_t place, bool quoted) const noexcept {
  const uint16_t length = texts.length[place];
  if (length == kAbsent) return putAbsent(to, quoted);
  if (quoted) *to++ = '"';
  to = format_.texts_[place].isHarmless() ? putPlain(to, texts.data[place], length & ~kCut)
                                          : putEscaped(to, texts.data[place], length & ~kCut);
  if ((length & kCut) != 0) to = put(to, std::string_view("..."));
  if (quoted) *to++ = '"';
  return to;
}

char* LineWriter::putRequest(char* to, const RecordHead& head, const Texts& texts) const noexcept {
  if ((head.flags & RecordHead::kUnread) != 0) return putText(to, texts, format_.target_text_, false);
  to = putText(to, texts, format_.method_text_, false);
  *to++ = ' ';
  to = putText(to, texts, format_.target_text_, false);
  *to++ = ' ';
  return putProtocol(to, head, false);
}

char* LineWriter::putProtocol(char* to, const RecordHead& head, bool quoted) const noexcept {
  if (head.version_minor == RecordHead::kNoVersion) return putAbsent(to, quoted);
  if (quoted) *to++ = '"';
  to = put(to, std::string_view("HTTP/1."));
  *to++ = static_cast<char>('0' + head.version_minor % 10);
  if (quoted) *to++ = '"';
  return to;
}

char* LineWriter::putUpstream(char* to, const RecordHead& head, bool quoted) const noexcept {
  return head.upstream_ns < 0 ? putAbsent(to, quoted) : putThousandths(to, head.upstream_ns / 1000);
}

char* LineWriter::putAddress(char* to, const net::PeerAddr& address) noexcept {
  uint64_t high = 0, low = 0;
  std::memcpy(&high, address.ip, sizeof high);
  std::memcpy(&low, address.ip + sizeof high, sizeof low);
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
  AddressText& known = addresses_[((high ^ (low * kMix)) * kMix) >> 56];
  if (known.size == 0 || known.address.family != address.family ||
      std::memcmp(known.address.ip, address.ip, sizeof address.ip) != 0) {
    known.address = address;
    known.size = address.formatIp(known.text);
  }
  std::memcpy(to, known.text, sizeof known.text);
  return to + known.size;
}

void LineWriter::setSecond(int64_t second) noexcept {
  second_ = second;
  const time_t seconds = static_cast<time_t>(second);
  tm utc{}, local{};
  ::gmtime_r(&seconds, &utc);
  ::localtime_r(&seconds, &local);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.", utc.tm_year + 1900, utc.tm_mon + 1,
                utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  std::memcpy(utc_text_.data(), text, utc_text_.size());
  // Not strftime: the names of months do not depend on a locale.
  static constexpr char kMonths[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const long zone = local.tm_gmtoff / 60, ahead = zone < 0 ? -zone : zone;
  std::snprintf(text, sizeof text, "%02d/%s/%04d:%02d:%02d:%02d %c%02ld%02ld", local.tm_mday,
                kMonths[local.tm_mon], local.tm_year + 1900, local.tm_hour, local.tm_min, local.tm_sec,
                zone < 0 ? '-' : '+', ahead / 60, ahead % 60);
  std::memcpy(local_text_.data(), text, local_text_.size());
}

}  // namespace roost::modules::access_log
