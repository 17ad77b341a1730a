#include "tools/swarm/sse_scanner.h"

#include <cstring>

namespace roost::swarm {

void SseScanner::reset() noexcept {
  SseScanner fresh;
  std::memcpy(fresh.id_, id_, sizeof id_);
  fresh.id_size_ = id_size_;
  *this = fresh;
}

// The value of data, id or event begins; behind an empty line of data stands a line break.
void SseScanner::beginValue() noexcept {
  if (field_ == Field::kId) id_size_ = 0;
  if (field_ == Field::kEvent) type_size_ = 0;
  if (field_ != Field::kData) return;
  if (has_data_) keep('\n');
  has_data_ = true;
}

// A byte of the value; what does not fit is dropped, and an id or a type that is cut off counts as none.
void SseScanner::keep(char c) noexcept {
  const auto append = [c](char* text, uint8_t& size, size_t room) {
    if (size < room) text[size] = c;
    if (size <= room) ++size;
  };
  if (field_ == Field::kId) return append(id_, id_size_, kIdBytes);
  if (field_ == Field::kEvent) return append(type_, type_size_, kTypeBytes);
  if (size_ < kKeptBytes) kept_[size_++] = c;
}

// True where an empty line ends an event that has data.
bool SseScanner::endLine() noexcept {
  const bool empty = place_ == Place::kLineStart;
  // "data" alone: an empty line of data.
  if (place_ == Place::kName && field_ == Field::kData && name_ == wanted().size()) beginValue();
  place_ = Place::kLineStart;
  if (empty && !has_data_) type_size_ = 0;  // an event without data is none
  return empty && has_data_;
}

// Takes a byte that ends no line.
void SseScanner::take(char c) noexcept {
  switch (place_) {
    case Place::kLineStart:
      name_ = 0;
      field_ = c == 'i' ? Field::kId : c == 'e' ? Field::kEvent : Field::kData;
      place_ = Place::kName;
      [[fallthrough]];
    case Place::kName:
      if (name_ < wanted().size() && c == wanted()[name_]) {
        ++name_;
      } else if (name_ == wanted().size() && c == ':') {
        place_ = Place::kColon;
        beginValue();
      } else {
        place_ = Place::kSkip;
      }
      return;
    case Place::kColon:
      place_ = Place::kValue;
      if (c == ' ') return;
      [[fallthrough]];
    case Place::kValue:
      keep(c);
      return;
    case Place::kSkip:
      return;
  }
}

bool SseScanner::next(std::string_view bytes, size_t& consumed) noexcept {
  if (fresh_) {
    fresh_ = false;
    has_data_ = false;
    size_ = type_size_ = 0;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    const bool second = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (second) continue;
    if (c == '\r' || c == '\n') {
      if (!endLine()) continue;
      fresh_ = true;
      consumed = i + 1;
      return true;
    }
    take(c);
    // The rest of a long line at once.
    if (place_ == Place::kSkip ||
        (place_ == Place::kValue && field_ == Field::kData && size_ == kKeptBytes)) {
      while (i + 1 < bytes.size() && bytes[i + 1] != '\n' && bytes[i + 1] != '\r') ++i;
    }
  }
  consumed = bytes.size();
  return false;
}

}  // namespace roost::swarm
