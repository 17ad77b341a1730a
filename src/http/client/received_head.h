// The parsed head of a response.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace roost::http::client {

// What ResponseParser has read. As HeadFields, it refers to the text by offsets: whoever keeps it keeps the
// text or moves `text` with it. About 2 KB, never copied on the way.
struct ReceivedHead : HeadFields {
  uint16_t status = 0;  // 100 to 999; beyond 599 is to be treated as 5xx (RFC 9110 section 15)
  Span reason;          // often empty, and of no meaning

  // One of those before the final response (RFC 9110 section 15.2): the next head follows at once.
  bool isInterim() const noexcept { return status < 200 && status != 101; }
};

}  // namespace roost::http::client
