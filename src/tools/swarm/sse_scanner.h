#pragma once

#include <cstdint>
#include <string_view>

namespace roost::swarm {

// Finds the events of an event stream (WHATWG HTML, section 9.2.6) in whatever pieces it comes. Of an event's
// data it keeps the beginning only, enough for a number and a time; of its type likewise; of ids the last.
// Owned by a client; one thread.
class SseScanner {
 public:
  static constexpr size_t kKeptBytes = 47;

  // Reads to the end of the next event or of `bytes`; says how much it has read. True: an event with data has
  // ended, data() has its beginning until the next call.
  bool next(std::string_view bytes, size_t& consumed) noexcept;
  std::string_view data() const noexcept { return {kept_, size_}; }
  // The same of that event's type ("event: gap"); "" where it has none, or one that is too long to be kept.
  std::string_view type() const noexcept { return {type_, type_size_ <= kTypeBytes ? type_size_ : 0U}; }
  static constexpr size_t kTypeBytes = 15;
  // The last id that has come; "" where there was none, or one that is too long to be kept.
  std::string_view id() const noexcept { return {id_, id_size_ <= kIdBytes ? id_size_ : 0U}; }
  static constexpr size_t kIdBytes = 48;
  // Another stream: forgets all but the id, which that stream is to go on from.
  void reset() noexcept;

 private:
  enum class Place : uint8_t {
    kLineStart,
    kName,   // of a field that may yet be one of Field
    kSkip,   // the rest of a line that does not matter
    kColon,  // just behind that of a field
    kValue,
  };
  enum class Field : uint8_t { kData, kId, kEvent };
  std::string_view wanted() const noexcept {
    return field_ == Field::kData ? "data" : field_ == Field::kId ? "id" : "event";
  }
  bool endLine() noexcept;
  void beginValue() noexcept;
  void take(char c) noexcept;
  void keep(char c) noexcept;

  char kept_[kKeptBytes] = {};
  uint8_t size_ = 0;
  char id_[kIdBytes] = {};
  uint8_t id_size_ = 0;
  char type_[kTypeBytes] = {};
  uint8_t type_size_ = 0;
  uint8_t name_ = 0;  // letters of the field's name that have matched
  Field field_ = Field::kData;
  Place place_ = Place::kLineStart;
  bool after_cr_ = false;  // a line feed now belongs to the line's end
  bool has_data_ = false;  // the event has a line of data
  bool fresh_ = true;      // the last call gave an event: begin anew
};

}  // namespace roost::swarm
