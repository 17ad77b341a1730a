// The same request parser as http/h1, written by hand the way servers usually are: one switch over a state,
// one byte at a time. The yardstick for "does Ragel cost speed?", and the second opinion of the parser's
// tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "http/field_table.h"
#include "http/h1/head_scan.h"
#include "http/message.h"

namespace roost::http::h1 {

enum : uint8_t { kTokenByte = 1, kFieldByte = 2, kTargetByte = 4, kHostByte = 8, kHexByte = 16 };

struct ByteKinds {
  uint8_t of[256];
};

constexpr ByteKinds makeByteKinds() noexcept {
  ByteKinds kinds{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool alpha = (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
    const bool digit = c >= '0' && c <= '9';
    uint8_t bits = 0;
    if (alpha || digit || c == '-' || c == '.' || c == '_' || c == '~') bits |= kTokenByte | kHostByte;
    for (const char* t = "!#$%&'*+^`|"; *t != '\0'; ++t) bits |= static_cast<char>(c) == *t ? kTokenByte : 0;
    for (const char* t = "!$&'()*+,;="; *t != '\0'; ++t) bits |= static_cast<char>(c) == *t ? kHostByte : 0;
    if ((c >= 0x20 && c != 0x7f) || c == '\t') bits |= kFieldByte;
    if (c > 0x20 && c < 0x7f && c != '#') bits |= kTargetByte;
    if (digit || ((c | 0x20U) >= 'a' && (c | 0x20U) <= 'f')) bits |= kHexByte;
    kinds.of[c] = bits;
  }
  return kinds;
}
inline constexpr ByteKinds kByteKinds = makeByteKinds();

class HandwrittenParser {
 public:
  void reset() noexcept {
    state_ = State::kStart;
    pos_ = empty_ = error_ = 0;
  }
  int errorStatus() const noexcept { return error_; }

  ParseState parse(const char* data, size_t size, const HeadLimits& limits, RequestHead& head) noexcept {
    if (pos_ == 0) head.clear();
    head.text = data;
    const auto end = static_cast<uint32_t>(std::min<size_t>(size, limits.max_head_bytes));
    const ParseState result = run(data, end, limits, head);
    if (result == ParseState::kDone) return result;
    if (error_ != 0) return result;
    if (inTarget() && pos_ - head.target.off > limits.max_target_bytes) return fail(414);
    if (result == ParseState::kError) return fail(400);
    return size >= limits.max_head_bytes ? fail(431) : result;
  }

 private:
  enum class State : uint8_t {
    kStart,
    kStartLf,
    kMethod,
    kTarget,
    kPath,
    kQuery,
    kScheme,
    kAuthority,
    kHost,
    kHostPct1,
    kHostPct2,
    kIp,
    kIpEnd,
    kPort,
    kAsterisk,
    kVersion,
    kMajor,
    kDot,
    kMinor,
    kVersionCr,
    kVersionLf,
    kLine,
    kName,
    kValue,
    kValueLf,
    kEndLf,
  };

  bool inTarget() const noexcept { return state_ >= State::kTarget && state_ <= State::kAsterisk; }

  ParseState fail(int status) noexcept {
    error_ = status;
    return ParseState::kError;
  }

  static Method methodOf(std::string_view text) noexcept {
    if (text == "GET") return Method::kGet;
    for (int i = 0; i < static_cast<int>(Method::kUnknown); ++i) {
      if (text == methodName(static_cast<Method>(i))) return static_cast<Method>(i);
    }
    return Method::kUnknown;
  }

  ParseState targetEnd(RequestHead& head, const HeadLimits& limits) noexcept {
    head.target.len = pos_ - head.target.off;
    if (head.has_query) {
      head.query.len = pos_ - head.query.off;
    } else if (head.form == TargetForm::kOrigin ||
               (head.form == TargetForm::kAbsolute && head.path.len == 0)) {
      head.path.len = pos_ - head.path.off;
    }
    if (head.target.len > limits.max_target_bytes) return fail(414);
    state_ = State::kVersion;
    return ParseState::kNeedMore;
  }

  void beginQuery(RequestHead& head) noexcept {
    if (head.path.len == 0) head.path.len = pos_ - head.path.off;
    head.has_query = true;
    head.query.off = pos_ + 1;
    state_ = State::kQuery;
  }

  // The byte that ends the authority of an absolute form, or of CONNECT's authority form.
  ParseState authorityEnd(char c, RequestHead& head, const HeadLimits& limits) noexcept {
    if (pos_ == head.authority.off) return ParseState::kError;
    if (head.form == TargetForm::kAuthority) {
      if (c != ' ' || state_ != State::kPort || head.text[pos_ - 1] == ':') return ParseState::kError;
      head.authority.len = pos_ - head.authority.off;
      return targetEnd(head, limits);
    }
    if (c != '/' && c != '?' && c != ' ') return ParseState::kError;
    head.authority.len = pos_ - head.authority.off;
    if (c == '/') {
      head.path.off = pos_;
      state_ = State::kPath;
      return ParseState::kNeedMore;
    }
    head.path = Span{head.authority.off - 1, 1};
    if (c == ' ') return targetEnd(head, limits);
    beginQuery(head);
    return ParseState::kNeedMore;
  }

  bool endLine(const char* data, const HeadLimits& limits, RequestHead& head) noexcept {
    uint32_t begin = colon_ + 1;
    uint32_t end = pos_ - 1;
    while (begin < end && (data[begin] == ' ' || data[begin] == '\t')) ++begin;
    while (end > begin && (data[end - 1] == ' ' || data[end - 1] == '\t')) --end;
    const uint32_t name_len = colon_ - mark_;
    if (name_len > UINT16_MAX || head.field_count >= limits.max_fields) return false;
    return head.addField(Field{mark_, begin, end - begin, static_cast<uint16_t>(name_len),
                               fieldIdAt(data + mark_, name_len), 0});
  }

  // Over the bytes of that kind behind the current one.
  void runOver(uint8_t kinds, const char* data, uint32_t end) noexcept {
    uint32_t at = pos_ + 1;
    while (at < end && (kByteKinds.of[static_cast<unsigned char>(data[at])] & kinds) != 0) ++at;
    pos_ = at - 1;
  }

  ParseState run(const char* data, uint32_t end, const HeadLimits& limits, RequestHead& head) noexcept;

  State state_ = State::kStart;
  uint32_t pos_ = 0;
  uint32_t mark_ = 0;
  uint32_t colon_ = 0;
  uint32_t empty_ = 0;
  bool other_major_ = false;
  int error_ = 0;
};

inline ParseState HandwrittenParser::run(const char* data, uint32_t end, const HeadLimits& limits,
                                         RequestHead& head) noexcept {
  constexpr std::string_view kScheme = "http";
  constexpr std::string_view kVersion = "HTTP/";
  for (; pos_ < end; ++pos_) {
    const char c = data[pos_];
    const uint8_t kind = kByteKinds.of[static_cast<unsigned char>(c)];
    switch (state_) {
      case State::kStart:
        if (c == '\r' && empty_ < 4) {
          state_ = State::kStartLf;
        } else if ((kind & kTokenByte) != 0) {
          head.method_text.off = pos_;
          state_ = State::kMethod;
        } else {
          return ParseState::kError;
        }
        break;
      case State::kStartLf:
        if (c != '\n') return ParseState::kError;
        ++empty_;
        state_ = State::kStart;
        break;
      case State::kMethod:
        if ((kind & kTokenByte) != 0) break;
        if (c != ' ') return ParseState::kError;
        head.method_text.len = pos_ - head.method_text.off;
        head.method = methodOf(head.view(head.method_text));
        head.target.off = pos_ + 1;
        mark_ = pos_ + 1;
        state_ = State::kTarget;
        break;
      case State::kTarget:
        if (head.method == Method::kConnect) {
          head.form = TargetForm::kAuthority;
          head.authority.off = pos_;
          state_ = State::kAuthority;
          --pos_;
        } else if (c == '/') {
          head.path.off = pos_;
          state_ = State::kPath;
        } else if (c == '*' && head.method == Method::kOptions) {
          head.form = TargetForm::kAsterisk;
          head.path = Span{pos_, 1};
          state_ = State::kAsterisk;
        } else if ((c | 0x20) == 'h') {
          state_ = State::kScheme;
        } else {
          return ParseState::kError;
        }
        break;
      case State::kPath:
        if (c == '?') {
          beginQuery(head);
        } else if (c == ' ') {
          if (targetEnd(head, limits) == ParseState::kError) return ParseState::kError;
        } else if ((kind & kTargetByte) == 0) {
          return ParseState::kError;
        }
        break;
      case State::kQuery:
        if (c == ' ') {
          if (targetEnd(head, limits) == ParseState::kError) return ParseState::kError;
        } else if ((kind & kTargetByte) == 0) {
          return ParseState::kError;
        } else {
          runOver(kTargetByte, data, end);
        }
        break;
      case State::kScheme: {
        const uint32_t at = pos_ - mark_;
        if (at < 4) {
          if ((c | 0x20) != kScheme[at]) return ParseState::kError;
          break;
        }
        const bool secure = (data[mark_ + 4] | 0x20) == 's';
        const uint32_t colon = secure ? 5 : 4;
        if (at < colon) break;
        if (c != (at == colon ? ':' : '/')) return ParseState::kError;
        if (at < colon + 2) break;
        head.form = TargetForm::kAbsolute;
        head.authority.off = pos_ + 1;
        state_ = State::kAuthority;
        break;
      }
      case State::kAuthority:
        if (c == '[') {
          state_ = State::kIp;
          break;
        }
        state_ = State::kHost;
        [[fallthrough]];
      case State::kHost:
        if ((kind & kHostByte) != 0) break;
        if (c == '%') {
          state_ = State::kHostPct1;
        } else if (c == ':' && pos_ != head.authority.off) {
          state_ = State::kPort;
        } else if (authorityEnd(c, head, limits) == ParseState::kError) {
          return ParseState::kError;
        }
        break;
      case State::kHostPct1:
      case State::kHostPct2:
        if ((kind & kHexByte) == 0) return ParseState::kError;
        state_ = state_ == State::kHostPct1 ? State::kHostPct2 : State::kHost;
        break;
      case State::kIp:
        if ((kind & kHexByte) != 0 || c == ':' || c == '.') break;
        if (c != ']' || data[pos_ - 1] == '[') return ParseState::kError;
        state_ = State::kIpEnd;
        break;
      case State::kIpEnd:
        if (c == ':') {
          state_ = State::kPort;
        } else if (authorityEnd(c, head, limits) == ParseState::kError) {
          return ParseState::kError;
        }
        break;
      case State::kPort:
        if (c >= '0' && c <= '9') break;
        if (authorityEnd(c, head, limits) == ParseState::kError) return ParseState::kError;
        break;
      case State::kAsterisk:
        if (c != ' ' || targetEnd(head, limits) == ParseState::kError) return ParseState::kError;
        break;
      case State::kVersion: {
        const uint32_t at = pos_ - (head.target.off + head.target.len + 1);
        if (c != kVersion[at]) return ParseState::kError;
        if (at == 4) state_ = State::kMajor;
        break;
      }
      case State::kMajor:
        if (c < '0' || c > '9') return ParseState::kError;
        other_major_ = c != '1';
        state_ = State::kDot;
        break;
      case State::kDot:
        if (c != '.') return ParseState::kError;
        state_ = State::kMinor;
        break;
      case State::kMinor:
        if (c < '0' || c > '9') return ParseState::kError;
        head.version_minor = c == '0' ? 0 : 1;
        state_ = State::kVersionCr;
        break;
      case State::kVersionCr:
        if (c != '\r') return ParseState::kError;
        state_ = State::kVersionLf;
        break;
      case State::kVersionLf:
        if (c != '\n') return ParseState::kError;
        if (other_major_) return fail(505);
        state_ = State::kLine;
        break;
      case State::kLine:
        if ((kind & kTokenByte) != 0) {
          mark_ = pos_;
          state_ = State::kName;
          runOver(kTokenByte, data, end);
        } else if (c == '\r') {
          state_ = State::kEndLf;
        } else {
          return ParseState::kError;
        }
        break;
      case State::kName:
        if ((kind & kTokenByte) != 0) break;
        if (c != ':') return ParseState::kError;
        colon_ = pos_;
        state_ = State::kValue;
        runOver(kFieldByte, data, end);
        break;
      case State::kValue:
        if ((kind & kFieldByte) != 0) {
          runOver(kFieldByte, data, end);
          break;
        }
        if (c != '\r') return ParseState::kError;
        state_ = State::kValueLf;
        break;
      case State::kValueLf:
        if (c != '\n') return ParseState::kError;
        if (!endLine(data, limits, head)) return fail(431);
        state_ = State::kLine;
        break;
      case State::kEndLf:
        if (c != '\n') return ParseState::kError;
        ++pos_;
        head.size = pos_;
        return ParseState::kDone;
    }
  }
  return ParseState::kNeedMore;
}

}  // namespace roost::http::h1
