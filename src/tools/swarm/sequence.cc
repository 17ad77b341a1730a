#include "tools/swarm/sequence.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace roost::swarm {

Numbered readNumbered(std::string_view message) noexcept {
  Numbered result;
  const char* const end = message.data() + message.size();
  const auto number = std::from_chars(message.data(), end, result.sequence);
  if (number.ec != std::errc()) return result;
  if (number.ptr != end && *number.ptr != ' ' && *number.ptr != '\n') return result;
  result.ok = true;
  if (number.ptr == end || *number.ptr != ' ') return result;
  int64_t sent_ns = 0;
  const auto time = std::from_chars(number.ptr + 1, end, sent_ns);
  if (time.ec == std::errc() && (time.ptr == end || *time.ptr == ' ' || *time.ptr == '\n')) {
    result.sent_ns = sent_ns;
  }
  return result;
}

SequenceCheck::Verdict SequenceCheck::add(uint64_t number) noexcept {
  constexpr uint64_t kWindow = 64;
  if (received_ == 0) {
    received_ = 1;
    last_ = number;
    // What lies before the first message was never missed: late ones from there count as duplicates.
    seen_ = ~uint64_t{0};
    return Verdict::kInOrder;
  }
  if (number > last_) {
    const uint64_t ahead = number - last_;
    seen_ = ahead >= kWindow ? 1 : (seen_ << ahead) | 1;
    last_ = number;
    ++received_;
    if (ahead == 1) return Verdict::kInOrder;
    const uint64_t room = std::numeric_limits<uint32_t>::max() - missing_;
    missing_ += static_cast<uint32_t>(ahead - 1 < room ? ahead - 1 : room);
    return Verdict::kGap;
  }
  const uint64_t behind = last_ - number;
  const uint64_t bit = behind < kWindow ? uint64_t{1} << behind : 0;
  if (bit == 0 || (seen_ & bit) != 0) return Verdict::kDuplicate;
  seen_ |= bit;
  ++received_;
  if (missing_ > 0) --missing_;
  return Verdict::kLate;
}

void NumberedStream::add(std::string_view piece) noexcept {
  const size_t size = std::min(piece.size(), sizeof kept_ - size_);
  std::memcpy(kept_ + size_, piece.data(), size);
  size_ += static_cast<uint32_t>(size);
}

}  // namespace roost::swarm
