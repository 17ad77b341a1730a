#include "http/prepared_response.h"

#include <cstring>

#include "http/date.h"
#include "http/h1/writer.h"

namespace roost::http {

PreparedResponse::PreparedResponse(ResponseHead& head, size_t body_size, std::string_view server)
    : status_(head.status) {
  head.content_length = static_cast<int64_t>(body_size);
  constexpr std::string_view kDateRoom = "Thu, 01 Jan 1970 00:00:00 GMT";
  h1::HeadText text;
  date_off_ = static_cast<uint32_t>(h1::writeHead(text, head, h1::Framing::kLength, server, kDateRoom));
  expires_after_s_ = head.expires_after_s;
  if (expires_after_s_ >= 0) expires_off_ = static_cast<uint32_t>(h1::writeExpires(text, expires_after_s_));
  h1::append(text, "\r\n");
  head_size_ = static_cast<uint32_t>(text.size());
  block_ = BufferRef::allocate(text.size() + body_size);
  std::memcpy(block_.mutableData(), text.data(), text.size());
}

PreparedResponse::PreparedResponse(ResponseHead& head, std::string_view body, std::string_view server)
    : PreparedResponse(head, body.size(), server) {
  if (!body.empty()) std::memcpy(mutableBody(), body.data(), body.size());
}

void PreparedResponse::redate(int64_t now_s, std::string_view text) noexcept {
  date_s_ = now_s;
  std::memcpy(block_.mutableData() + date_off_, text.data(), text.size());
  if (expires_after_s_ >= 0) formatHttpDate(now_s + expires_after_s_, block_.mutableData() + expires_off_);
}

}  // namespace roost::http
