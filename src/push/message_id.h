#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roost::push {

// Names a message of a channel, the same on every transport: "time:tag" in one piece (SSE, WebSocket, the
// query), or time as Last-Modified and tag as Etag (long-poll). The tag is "seq-epoch": a decimal number and
// eight hexadecimal digits.
struct MessageId {
  int64_t time_s = 0;  // Unix time of publication; never less than that of the message before it
  uint64_t seq = 0;    // 1 is the first of an epoch; 0: before the first, or unknown
  uint32_t epoch = 0;  // random, another one whenever a channel is made; 0: unknown (not one of our tags)

  bool operator==(const MessageId& other) const noexcept {
    return time_s == other.time_s && seq == other.seq && epoch == other.epoch;
  }
  bool operator!=(const MessageId& other) const noexcept { return !(*this == other); }

  std::string text() const;  // "1763668666:17-5f3a9c01"
  std::string tag() const;   // "17-5f3a9c01"

  // Names no message that we have given: it came with a tag of somebody else's (another server's).
  bool foreign() const noexcept { return epoch == 0 && seq != 0; }
  static MessageId makeForeign(int64_t time_s) noexcept { return {time_s, 1, 0}; }

  // Reads "time:tag" or "time". The tag may be plain, quoted or weak (W/"..."). One that is not ours makes
  // the id foreign(); without one seq and epoch are 0. nullopt: not an id at all: no number, or longer than
  // kMaxText.
  static constexpr size_t kMaxText = 128;
  static std::optional<MessageId> parse(std::string_view text) noexcept;
  // Sets seq and epoch from a tag alone; false, and both 0, where it is not one of ours.
  bool parseTag(std::string_view tag) noexcept;
};

}  // namespace roost::push
