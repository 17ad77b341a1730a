#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "http/date_cache.h"
#include "http/response_head.h"

namespace roost::http {

// A whole answer made ready once and sent many times, as one block: HTTP/1 status line, fields, empty line,
// body. Only its dates, Date and Expires, change. Belongs to one loop (its date is rewritten in place), so it
// is kept in per-loop caches.
class PreparedResponse {
 public:
  PreparedResponse() noexcept = default;
  // `head.content_length` is set from `body`; `server` is the Server field's value, empty for none.
  PreparedResponse(ResponseHead& head, std::string_view body, std::string_view server);
  // The same with room for a body of this size that the caller writes through body().
  PreparedResponse(ResponseHead& head, size_t body_size, std::string_view server);

  explicit operator bool() const noexcept { return static_cast<bool>(block_); }
  int status() const noexcept { return status_; }
  char* mutableBody() noexcept { return block_.mutableData() + head_size_; }

  // Everything, with the current date.
  std::string_view bytes(DateCache& date) noexcept {
    const int64_t now = date.seconds();
    if (now != date_s_) redate(now, date.text());
    return block_.view();
  }
  // The head up to, and without, the empty line. After bytes().
  std::string_view openHead() const noexcept { return block_.view().substr(0, head_size_ - 2); }
  std::string_view body() const noexcept { return block_.view().substr(head_size_); }
  const BufferRef& block() const noexcept { return block_; }
  size_t headSize() const noexcept { return head_size_; }
  size_t size() const noexcept { return block_.size(); }

 private:
  void redate(int64_t now_s, std::string_view text) noexcept;

  BufferRef block_;
  uint32_t head_size_ = 0;
  uint32_t date_off_ = 0;
  uint32_t expires_off_ = 0;
  int64_t expires_after_s_ = ResponseHead::kNoExpiry;
  int64_t date_s_ = -1;
  int status_ = 0;
};

}  // namespace roost::http
