// The other side: what a client makes of coded content.
#pragma once

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <string>
#include <string_view>

#include "http/negotiation.h"

namespace roost::modules::compress {

inline std::string gunzip(std::string_view coded) {
  z_stream stream{};
  ::inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  std::string out;
  std::array<char, 4096> step;
  for (int result = Z_OK; result == Z_OK;) {
    stream.next_out = reinterpret_cast<Bytef*>(step.data());
    stream.avail_out = static_cast<uInt>(step.size());
    result = ::inflate(&stream, Z_SYNC_FLUSH);
    out.append(step.data(), step.size() - stream.avail_out);
    if (stream.avail_in == 0 && stream.avail_out > 0) break;
  }
  ::inflateEnd(&stream);
  return out;
}

inline std::string unbrotli(std::string_view coded) {
  BrotliDecoderState* state = ::BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
  const auto* next = reinterpret_cast<const uint8_t*>(coded.data());
  size_t left = coded.size();
  std::string out;
  for (bool more = true; more;) {
    size_t no_room = 0;
    const auto result = ::BrotliDecoderDecompressStream(state, &left, &next, &no_room, nullptr, nullptr);
    more = result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    size_t size = 0;
    const uint8_t* bytes = ::BrotliDecoderTakeOutput(state, &size);
    out.append(reinterpret_cast<const char*>(bytes), size);
  }
  ::BrotliDecoderDestroyInstance(state);
  return out;
}

inline std::string unzstd(std::string_view coded) {
  ZSTD_DCtx* context = ::ZSTD_createDCtx();
  ZSTD_inBuffer in{coded.data(), coded.size(), 0};
  std::string out;
  std::array<char, 4096> step;
  for (;;) {
    ZSTD_outBuffer to{step.data(), step.size(), 0};
    const size_t left = ::ZSTD_decompressStream(context, &to, &in);
    out.append(step.data(), to.pos);
    if (::ZSTD_isError(left) != 0 || (in.pos == in.size && to.pos < to.size)) break;
  }
  ::ZSTD_freeDCtx(context);
  return out;
}

// As much as can be decoded of what is there.
inline std::string decode(http::Coding coding, std::string_view coded) {
  switch (coding) {
    case http::Coding::kBrotli:
      return unbrotli(coded);
    case http::Coding::kZstd:
      return unzstd(coded);
    case http::Coding::kGzip:
      return gunzip(coded);
    case http::Coding::kIdentity:
      break;
  }
  return std::string(coded);
}

}  // namespace roost::modules::compress
