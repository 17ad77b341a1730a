#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/negotiation.h"

namespace roost::http {

class Exchange;
class ResponseHead;

// What a route says about coding the content of its answers, and who does it: made by the module "compress".
// Exchange shows it every head behind the filters; a handler that keeps answers ready asks it for coded forms
// of them and says ResponseHead::negotiated of those it has chosen itself. Immutable, owned by routes; any
// thread unless it says otherwise.
class Compression {
 public:
  virtual ~Compression() = default;

  // Whether content of this type and size is coded for clients that take it: what is answered then depends on
  // Accept-Encoding. `size` as ResponseHead::content_length.
  virtual bool applies(std::string_view content_type, int64_t size) const noexcept = 0;
  const CodingOrder& order() const noexcept { return order_; }
  // Coded forms of files up to this many bytes are made once and kept.
  uint64_t maxKeptBytes() const noexcept { return max_kept_bytes_; }
  // Tells forms of the same content by coding and level apart: "br5"; at most 8 characters.
  std::string_view tagSuffix(Coding coding) const noexcept {
    return tag_suffixes_[static_cast<size_t>(coding)];
  }
  // The whole of `content`, coded, appended to `out`, or false where that is not shorter or cannot be had.
  // Takes a millisecond for every few ten kilobytes.
  virtual bool encode(Coding coding, std::string_view content, std::string& out) const noexcept = 0;

  // The answer that begins with this head: codes it where that applies, by a BodyStage. `fin`: no content
  // follows. Loop thread.
  virtual void onHead(Exchange& exchange, ResponseHead& head, bool fin) const noexcept = 0;

 protected:
  CodingOrder order_;
  uint64_t max_kept_bytes_ = 0;
  std::array<std::string, kCodingCount> tag_suffixes_;
};

}  // namespace roost::http
