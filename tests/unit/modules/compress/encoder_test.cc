#include "modules/compress/encoder.h"

#include <zlib.h>
#include <zstd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "unit/modules/compress/decode.h"

namespace roost::modules::compress {
namespace {

using http::Coding;

std::string textOf(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) text += "line " + std::to_string(i * i) + " of some text\n";
  text.resize(size);
  return text;
}

std::string encoded(Coding coding, int level, const std::string& text, size_t piece, bool size_known) {
  const auto encoder = makeEncoder(coding, level, size_known ? static_cast<int64_t>(text.size()) : -1);
  REQUIRE(encoder != nullptr);
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece)
    REQUIRE(encoder->encode(std::string_view(text).substr(at, piece), Flush::kNone, out));
  REQUIRE(encoder->encode({}, Flush::kEnd, out));
  return out;
}

TEST_CASE("Encoder: what goes in comes out, in pieces of any size, at every level") {
  for (const Coding coding : http::kCodings) {
    for (const int level : {1, 3, 6, 9}) {
      for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{70000}}) {
        for (const size_t piece : {size_t{700}, size_t{100000}}) {
          const std::string text = textOf(size);
          CAPTURE(http::codingName(coding), level, size, piece);
          CHECK(decode(coding, encoded(coding, level, text, piece, true)) == text);
          CHECK(decode(coding, encoded(coding, level, text, piece, false)) == text);
        }
      }
    }
  }
}

TEST_CASE("Encoder: what has been flushed can be decoded before the rest is there") {
  for (const Coding coding : http::kCodings) {
    CAPTURE(http::codingName(coding));
    const auto encoder = makeEncoder(coding, 5, -1);
    std::string out;
    REQUIRE(encoder->encode("the first part", Flush::kNone, out));
    REQUIRE(encoder->encode({}, Flush::kSync, out));
    CHECK(decode(coding, out) == "the first part");
    REQUIRE(encoder->encode(", the second", Flush::kEnd, out));
    CHECK(decode(coding, out) == "the first part, the second");
  }
}

TEST_CASE("Encoder: a context that was left in the middle serves the next answer, at another level") {
  const std::string text = textOf(50000);
  for (const Coding coding : http::kCodings) {
    CAPTURE(http::codingName(coding));
    for (int round = 0; round < 10; ++round) {
      std::string dropped;
      const auto left = makeEncoder(coding, 1 + round % 9, -1);
      REQUIRE(left->encode(text, Flush::kNone, dropped));
    }
    CHECK(decode(coding, encoded(coding, 9, text, 5000, true)) == text);
  }
}

TEST_CASE("Encoder: begun on one thread, gone on with and destroyed on others") {
  const std::string text = textOf(100000);
  for (const Coding coding : http::kCodings) {
    CAPTURE(http::codingName(coding));
    auto encoder = makeEncoder(coding, 4, -1);
    std::string out;
    for (size_t at = 0; at < text.size(); at += 25000) {
      std::thread([&] {
        encoder->encode(std::string_view(text).substr(at, 25000), Flush::kNone, out);
      }).join();
    }
    std::thread([&] {
      encoder->encode({}, Flush::kEnd, out);
      encoder.reset();
    }).join();
    CHECK(decode(coding, out) == text);
  }
}

}  // namespace
}  // namespace roost::modules::compress
