#pragma once

#include <cstdint>
#include <string_view>

namespace roost::swarm {

// What a numbered message says of itself: "17 81234567890123 rest", the second number optional.
struct Numbered {
  bool ok = false;
  uint64_t sequence = 0;
  int64_t sent_ns = 0;  // CLOCK_MONOTONIC of the machine that sent it; 0: not said
};
Numbered readNumbered(std::string_view message) noexcept;

// Whether the numbers of a stream of messages come once each and in order. Remembers the last 64 of them, so
// that one that comes late is told from one that comes twice. Owned by a client; 24 bytes.
class SequenceCheck {
 public:
  enum class Verdict : uint8_t {
    kInOrder,
    kGap,        // the ones between the last and this are missing so far
    kLate,       // one of those that were missing: it came out of order
    kDuplicate,  // had come before, or is too old to tell
  };
  // The first number may be any.
  Verdict add(uint64_t number) noexcept;

  uint64_t received() const noexcept { return received_; }
  uint64_t missing() const noexcept { return missing_; }  // right now

 private:
  uint64_t last_ = 0;
  uint64_t seen_ = 0;  // bit i: last_ - i has come
  uint32_t received_ = 0;
  uint32_t missing_ = 0;
};

// The beginning of a content that comes in pieces, as far as a number and a time reach.
class NumberedStream {
 public:
  void begin() noexcept { size_ = 0; }
  void add(std::string_view piece) noexcept;
  std::string_view text() const noexcept { return {kept_, size_}; }
  SequenceCheck& check() noexcept { return check_; }

 private:
  SequenceCheck check_;
  uint32_t size_ = 0;
  char kept_[44];
};

// What a listening client has received.
struct MessageCheck {
  SequenceCheck sequence;  // where numbers are expected
  uint64_t count = 0;
};

}  // namespace roost::swarm
