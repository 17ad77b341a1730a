// What the loop writes of a request: raw values, to be made a line of by the log thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/handler.h"
#include "log/stream.h"
#include "net/address.h"

namespace roost::modules::access_log {

// The values of a request that are text. A record holds those that its format asks for.
enum class Text : uint8_t {
  kMethod,
  kTarget,
  kHost,
  kPath,
  kQuery,
  kPeer,
  kRequestId,
  kUser,
  kSite,
  kUserAgent,
  kReferer,
  kHeader  // any other field
};

// Longer values are cut, and three dots stand for the rest. What a record cannot hold in all is cut too, the
// last texts first.
constexpr size_t kMostTargetBytes = 2048;
constexpr size_t kMostTextBytes = 512;

struct TextWanted {
  Text kind;
  std::string name;  // of kHeader
  // Nothing in it can need to be escaped: a token, hexadecimal digits or what isRequestId() lets through, a
  // host of the configuration's.
  bool isHarmless() const noexcept {
    return kind == Text::kMethod || kind == Text::kRequestId || kind == Text::kSite;
  }
  size_t mostBytes() const noexcept {
    return kind == Text::kTarget || kind == Text::kPath || kind == Text::kQuery ? kMostTargetBytes
                                                                                : kMostTextBytes;
  }
};
constexpr size_t kMostTexts = 24;
using TextList = std::vector<TextWanted>;  // at most kMostTexts

// In front of a record's texts. Their lengths follow as uint16_t each, then the texts one behind the other,
// then log::kEscapeSlack bytes that mean nothing.
struct RecordHead {
  uint64_t content_bytes;
  int64_t duration_ns;
  int64_t upstream_ns;  // -1: none was asked
  net::PeerAddr client;
  uint16_t status;
  uint8_t version_minor;  // HTTP/1.<this>; kNoVersion: unknown
  uint8_t flags;
  static constexpr uint8_t kNoVersion = 0xff;
  static constexpr uint8_t kAborted = 1, kHttps = 2, kUnread = 4;  // kUnread: the target is what came
};
static_assert(sizeof(RecordHead) == 48);
constexpr uint16_t kAbsent = 0xffff;  // as a length
constexpr uint16_t kCut = 0x8000;     // in a length

// A record being made: values are collected, measured, and copied in one go. Views refer to the exchange.
class Record {
 public:
  Record(const TextList& wanted, const http::Exchange& exchange);
  Record(const TextList& wanted, const http::UnroutedRequest& request, std::string_view request_id);

  void setOutcome(const http::Outcome& outcome) noexcept { setOutcome(head_, outcome); }
  // What is logged as the status: 499 where the client was gone before it was told one.
  static int statusOf(const http::Outcome& outcome) noexcept;
  static void setOutcome(RecordHead& head, const http::Outcome& outcome) noexcept;
  size_t bytes() const noexcept { return bytes_; }
  void copyTo(char* to) const noexcept;

 private:
  // Trivial, so that making a Record does not clear what it will not use. No data: absent.
  struct Piece {
    const char* data;
    size_t size;
  };
  static Piece pieceOf(std::string_view text) noexcept { return {text.data(), text.size()}; }
  std::string_view peerText(const net::PeerAddr& peer) noexcept {
    return {peer_text_, peer.formatIp(peer_text_)};
  }
  void measure(const TextList& wanted) noexcept;

  RecordHead head_{};
  const size_t count_;
  size_t bytes_ = 0;
  std::array<Piece, kMostTexts> texts_;
  std::array<uint16_t, kMostTexts> lengths_;
  char peer_text_[net::PeerAddr::kMaxText];
};

}  // namespace roost::modules::access_log
