// links: roost_http_parser
// The chunked decoder: the content and the outcome do not depend on how the bytes were split, and nothing
// beyond them is read. The first byte chooses a split of its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "http/h1/chunked_decoder.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost::http::h1;

std::string decode(const uint8_t* data, size_t size, size_t step) {
  HeadLimits limits;
  limits.max_head_bytes = 256;
  limits.max_fields = 8;
  ChunkedDecoder decoder;
  std::string content;
  for (size_t at = 0; at < size;) {
    const size_t part = std::min(step, size - at);
    const std::unique_ptr<char[]> bytes(new char[part]);
    std::memcpy(bytes.get(), data + at, part);
    for (size_t used = 0;;) {
      const ChunkPiece piece = decoder.next(bytes.get() + used, part - used, limits);
      require(piece.consumed <= part - used, "no more is consumed than there is");
      if (piece.step == ChunkStep::kData) {
        require(piece.size > 0 && piece.data >= bytes.get() + used &&
                    piece.data + piece.size == bytes.get() + used + piece.consumed,
                "content lies in the input");
        content.append(piece.data, piece.size);
        used += piece.consumed;
        continue;
      }
      used += piece.consumed;
      if (piece.step == ChunkStep::kDone) return content + "|done " + std::to_string(at + used);
      if (piece.step == ChunkStep::kError) {
        return content + "|" + std::to_string(decoder.errorStatus()) + " " + decoder.errorReason();
      }
      require(used == part, "kNeedMore has consumed all");
      break;
    }
    at += part;
  }
  return content + "|more";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 4096) return 0;
  const size_t own_step = data[0] == 0 ? 1 : data[0];
  ++data;
  --size;
  const std::string expected = decode(data, size, size);
  for (const size_t step : {size_t{1}, size_t{2}, size_t{13}, own_step}) {
    require(decode(data, size, step) == expected, "the same in pieces");
  }
  return 0;
}
