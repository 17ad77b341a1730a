#include "modules/mysql/body_gatherer.h"

#include <algorithm>
#include <charconv>

#include "base/memory.h"
#include "http/exchange.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/write_request.h"
#include "tables/body.h"

namespace roost::modules::mysql {

using tables::Problem;

int64_t announcedBytes(const http::RequestHead& head) noexcept {
  const std::string_view text = head.get(http::FieldId::kContentLength);
  int64_t bytes = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc{} && end == text.data() + text.size() ? bytes : -1;
}

bool BodyGatherer::add(std::string_view piece, Problem& problem) noexcept {
  if (piece.size() > max_bytes_ - text_.size()) {
    problem = bodyTooLarge(static_cast<uint32_t>(max_bytes_));
    return false;
  }
  const size_t needed = text_.size() + piece.size();
  if (needed > text_.capacity() && !reserve(std::max(needed, 2 * text_.capacity()), problem)) {
    text_ = {};
    return false;
  }
  text_.append(piece);
  return true;
}

bool BodyGatherer::reserve(size_t bytes, Problem& problem) noexcept {
  if (bytes > paid_ && !lease_.take(bytes - paid_)) {
    problem = tables::bodiesFull();
    return false;
  }
  paid_ = std::max(paid_, bytes);
  if (memory::forPeer([&] { text_.reserve(bytes); })) return true;
  problem = noMemory();
  return false;
}

}  // namespace roost::modules::mysql
