#include "tools/swarm/sse_scanner.h"

#include <cstring>

namespace roost::swarm {

void SseScanner::reset() noexcept {
  SseScanner fresh;
  std::memcpy(fresh.id_, id_, sizeof id_);
  fresh.id_size_ = id_size_;
  *this = fresh;
}

// True where an empty line ends an event that has data.
bool SseScanner::endLine() noexcept {
  const bool empty = place_ == Place::kLineStart;
  if (place_ == Place::kName && !is_id_ && name_ == wanted().size()) {  // "data" alone: an empty line of data
    if (has_data_) keep('\n');
    has_data_ = true;
  }
  place_ = Place::kLineStart;
  return empty && has_data_;
}

// Takes a byte that ends no line.
void SseScanner::take(char c) noexcept {
  switch (place_) {
    case Place::kLineStart:
      name_ = 0;
      is_id_ = c == 'i';
      place_ = Place::kName;
      [[fallthrough]];
    case Place::kName:
      if (name_ < wanted().size() && c == wanted()[name_]) {
        ++name_;
      } else if (name_ == wanted().size() && c == ':' && is_id_) {
        place_ = Place::kIdColon;
        id_size_ = 0;
      } else if (name_ == wanted().size() && c == ':') {
        place_ = Place::kColon;
        if (has_data_) keep('\n');
        has_data_ = true;
      } else {
        place_ = Place::kSkip;
      }
      return;
    case Place::kColon:
      place_ = Place::kData;
      if (c != ' ') keep(c);
      return;
    case Place::kData:
      keep(c);
      return;
    case Place::kIdColon:
      place_ = Place::kId;
      if (c == ' ') return;
      [[fallthrough]];
    case Place::kId:
      if (id_size_ < kIdBytes) id_[id_size_] = c;
      if (id_size_ <= kIdBytes) ++id_size_;
      return;
    case Place::kSkip:
      return;
  }
}

bool SseScanner::next(std::string_view bytes, size_t& consumed) noexcept {
  if (fresh_) {
    fresh_ = false;
    has_data_ = false;
    size_ = 0;
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
    if (place_ == Place::kSkip || (place_ == Place::kData && size_ == kKeptBytes)) {
      while (i + 1 < bytes.size() && bytes[i + 1] != '\n' && bytes[i + 1] != '\r') ++i;
    }
  }
  consumed = bytes.size();
  return false;
}

}  // namespace roost::swarm
