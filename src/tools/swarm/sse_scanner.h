#pragma once

#include <cstdint>
#include <string_view>

namespace roost::swarm {

// Finds the events of an event stream (WHATWG HTML, section 9.2.6) in whatever pieces it comes. Of an event's
// data it keeps the beginning only, enough for a number and a time. Owned by a client; one thread.
class SseScanner {
 public:
  static constexpr size_t kKeptBytes = 47;

  // Reads to the end of the next event or of `bytes`; says how much it has read. True: an event with data has
  // ended, data() has its beginning until the next call.
  bool next(std::string_view bytes, size_t& consumed) noexcept;
  std::string_view data() const noexcept { return {kept_, size_}; }
  void reset() noexcept { *this = SseScanner{}; }

 private:
  enum class Place : uint8_t {
    kLineStart,
    kName,   // of a field that may yet be "data"
    kSkip,   // the rest of a line that does not matter
    kColon,  // just behind "data:"
    kData,
  };
  bool endLine() noexcept;
  void take(char c) noexcept;
  void keep(char c) noexcept {
    if (size_ < kKeptBytes) kept_[size_++] = c;
  }

  char kept_[kKeptBytes] = {};
  uint8_t size_ = 0;
  uint8_t name_ = 0;  // letters of "data" that have matched
  Place place_ = Place::kLineStart;
  bool after_cr_ = false;  // a line feed now belongs to the line's end
  bool has_data_ = false;  // the event has a line of data
  bool fresh_ = true;      // the last call gave an event: begin anew
};

}  // namespace roost::swarm
