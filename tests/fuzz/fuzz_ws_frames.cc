// links: roost_http
// The frame decoder: what it makes of a stream does not depend on how it was split, pieces lie within their
// input, and nothing but them is changed. The first byte chooses role, compression and limits, the second a
// split of its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "http/ws/frame_decoder.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost::http::ws;

std::string decode(const uint8_t* data, size_t size, size_t step, const FrameRules& rules) {
  FrameDecoder decoder;
  std::string told;
  std::string held;
  uint64_t message = 0;
  for (size_t at = 0; at < size; at += step) {
    held.append(reinterpret_cast<const char*>(data) + at, std::min(step, size - at));
    for (;;) {
      const std::unique_ptr<char[]> bytes(new char[held.size()]);  // so that a sanitizer sees its end
      std::memcpy(bytes.get(), held.data(), held.size());
      FramePiece piece;
      const FrameDecoder::Step what = decoder.next(bytes.get(), held.size(), rules, piece);
      if (what == FrameDecoder::Step::kError) {
        require(decoder.errorCode() == kProtocolError || decoder.errorCode() == kTooBig,
                "an error has its code");
        require(decoder.next(bytes.get(), held.size(), rules, piece) == FrameDecoder::Step::kError,
                "and stays");
        return told + "|" + decoder.errorText();
      }
      if (what == FrameDecoder::Step::kNeedMore) {
        require(std::memcmp(bytes.get(), held.data(), held.size()) == 0, "what is not taken is not changed");
        break;
      }
      require(piece.consumed > 0 && piece.consumed <= held.size(), "no more is consumed than there is");
      require(piece.data >= bytes.get() && piece.data + piece.size == bytes.get() + piece.consumed,
              "a piece ends where what is consumed ends");
      if (isControl(piece.opcode)) {
        require(piece.begins && piece.ends && piece.size <= kMaxControlBytes,
                "control frames are whole and short");
      } else {
        message = (piece.begins ? 0 : message) + piece.size;
        require(message <= rules.max_message_bytes + rules.max_message_bytes / 256 + 64, "within the limit");
      }
      if (piece.begins)
        told += "<" + std::to_string(static_cast<int>(piece.opcode)) + (piece.compressed ? "z:" : ":");
      told.append(piece.data, piece.size);
      if (piece.ends) told += ">";
      held.erase(0, piece.consumed);
    }
  }
  return told + (decoder.idle() ? "" : "...");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3 || size > 4096) return 0;
  FrameRules rules;
  rules.role = (data[0] & 1) != 0 ? Role::kClient : Role::kServer;
  rules.compression = (data[0] & 2) != 0;
  rules.max_message_bytes = (data[0] & 4) != 0 ? 300 : 1 << 20;
  rules.max_frame_bytes = (data[0] & 8) != 0 ? 200 : rules.max_message_bytes;
  const size_t own_step = data[1] == 0 ? 1 : data[1];
  data += 2;
  size -= 2;
  const std::string expected = decode(data, size, size, rules);
  for (const size_t step : {size_t{1}, size_t{3}, own_step}) {
    require(decode(data, size, step, rules) == expected, "the same in pieces");
  }
  return 0;
}
