#include "http/h1/chunked_decoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace roost::http::h1 {
namespace {

using namespace std::string_literals;

// The content, how it ended and what is left behind the body, from input in pieces of the given size (0:
// whole). Each piece lies in memory of exactly its size, so that a sanitizer sees any read beyond.
std::string decode(const std::string& input, size_t piece, const HeadLimits& limits = {}) {
  ChunkedDecoder decoder;
  std::string content;
  size_t at = 0;
  while (at < input.size()) {
    const size_t size = piece == 0 ? input.size() - at : std::min(piece, input.size() - at);
    const std::vector<char> part(input.begin() + static_cast<std::ptrdiff_t>(at),
                                 input.begin() + static_cast<std::ptrdiff_t>(at + size));
    size_t used = 0;
    for (;;) {
      const ChunkPiece next = decoder.next(part.data() + used, part.size() - used, limits);
      used += next.consumed;
      if (next.step == ChunkStep::kData) {
        REQUIRE(next.size > 0);
        content.append(next.data, next.size);
        continue;
      }
      if (next.step == ChunkStep::kError) {
        return content + " error " + std::to_string(decoder.errorStatus()) + " " + decoder.errorReason();
      }
      if (next.step == ChunkStep::kDone) return content + " done " + std::to_string(at + used);
      REQUIRE(used == part.size());
      break;
    }
    at += size;
  }
  return content + " more";
}

// The same for every split point and byte by byte; checked to agree.
std::string decodeAll(const std::string& input, const HeadLimits& limits = {}) {
  const std::string whole = decode(input, 0, limits);
  for (size_t piece = 1; piece <= input.size(); ++piece) {
    INFO("pieces of " << piece << " of " << input);
    REQUIRE(decode(input, piece, limits) == whole);
  }
  return whole;
}

TEST_CASE("chunked bodies that are well formed", "[RFC 9112 section 7.1]") {
  CHECK(decodeAll("0\r\n\r\n") == " done 5");
  CHECK(decodeAll("5\r\nhello\r\n0\r\n\r\nGET") == "hello done 15");
  CHECK(decodeAll("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n") == "hello world done 26");
  CHECK(decodeAll("A\r\n0123456789\r\n0\r\n\r\n") == "0123456789 done 20");
  CHECK(decodeAll("a\r\n0123456789\r\n00000\r\n\r\n") == "0123456789 done 24");
  CHECK(decodeAll("0000005\r\nhello\r\n0\r\n\r\n") == "hello done 21");
  CHECK(decodeAll("4\r\n\r\n\r\n\r\n0\r\n\r\n") == "\r\n\r\n done 14");
  CHECK(decodeAll("2\r\n"s + std::string(2, '\0') + "\r\n0\r\n\r\n") == std::string(2, '\0') + " done 12");
}

TEST_CASE("chunk extensions are checked and ignored", "[RFC 9112 section 7.1.1]") {
  CHECK(decodeAll("1;a\r\nx\r\n0\r\n\r\n") == "x done 13");
  CHECK(decodeAll("1;a=b;c=\"d;\\\"\\r e\"\r\nx\r\n0;z\r\n\r\n") == "x done 30");
  CHECK(decodeAll("1 \t; a = b\r\nx\r\n0\r\n\r\n") == "x done 20");
  for (const char* bad : {"1;", "1;;a", "1;a=", "1;a=\"b", "1;a b", "1;a=b c", "1;a;", "1;=b", "1;a=\"b\"c",
                          "1;a\x01", "1;a=\"\x01\""}) {
    INFO(bad);
    CHECK(decodeAll(bad + "\r\nx\r\n0\r\n\r\n"s) == " error 400 malformed chunk");
  }
}

TEST_CASE("malformed chunks are refused", "[RFC 9112 section 7.1]") {
  for (const char* bad :
       {"\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\t\r\n", "1\n", "1\rx",
        "1\r\r\n", "1,\r\n", "1.0\r\n", "\n1\r\n", "1_0\r\n", "\xff\r\n", "0\n", "0 \r\n"}) {
    INFO(bad);
    CHECK(decodeAll(bad + "x\r\n0\r\n\r\n"s) == " error 400 malformed chunk");
  }
  for (const char* bad : {"x", "\n0\r\n\r\n", "\rx", "\r\r\n", "\r\n\r\n0\r\n\r\n", " \r\n0\r\n\r\n"}) {
    INFO(bad);
    CHECK(decodeAll("5\r\nhello"s + bad) == "hello error 400 malformed chunk");
  }
}

TEST_CASE("a chunk size does not overflow") {
  CHECK(decodeAll("fffffffffffffff\r\nab") == "ab more");
  CHECK(decodeAll("1000000000000000\r\nab") == " error 400 chunk size too large");
  CHECK(decodeAll("ffffffffffffffff\r\nab") == " error 400 chunk size too large");
  CHECK(decodeAll("10000000000000001\r\nab") == " error 400 chunk size too large");
  CHECK(decodeAll("00000000000000000000001\r\nab") == "a error 400 malformed chunk");
}

TEST_CASE("a chunk size line is bounded") {
  const auto line = [](size_t bytes) { return "1;" + std::string(bytes - 4, 'a') + "\r\n"; };
  const size_t limit = ChunkedDecoder::kMaxSizeLineBytes;
  CHECK(decode(line(limit - 1) + "x\r\n0\r\n\r\n", 0).compare(0, 6, "x done") == 0);
  CHECK(decode(line(limit - 1) + "x\r\n0\r\n\r\n", 1).compare(0, 6, "x done") == 0);
  for (const size_t piece : {size_t{0}, size_t{1}, size_t{100}}) {
    CHECK(decode(line(limit + 1), piece) == " error 400 chunk size line too long");
    CHECK(decode(std::string(2000, '0') + "\r\n\r\n", piece) == " error 400 chunk size line too long");
  }
}

TEST_CASE("trailer fields are checked, counted and dropped", "[RFC 9112 section 7.1.2]") {
  CHECK(decodeAll("0\r\nA: b\r\n\r\nX") == " done 11");
  CHECK(decodeAll("1\r\nx\r\n0\r\nA:\r\nContent-Length: 7\r\nHost:\t y\r\n\r\n").substr(0, 6) == "x done");
  for (const char* bad : {"A\r\n", "A : b\r\n", ": b\r\n", " A: b\r\n", "A: b\r\n c\r\n", "A: b\n",
                          "A: \x01\r\n", "A: b\r\r\n", "\n", "\r\r\n"}) {
    INFO(bad);
    CHECK(decodeAll("0\r\n"s + bad + "\r\n") == " error 400 malformed trailer section");
  }
  HeadLimits limits;
  limits.max_fields = 2;
  CHECK(decodeAll("0\r\nA: b\r\nC: d\r\n\r\n", limits) == " done 17");
  CHECK(decodeAll("0\r\nA: b\r\nC: d\r\nE: f\r\n\r\n", limits) == " error 431 too many trailer fields");
  limits.max_fields = 100;
  limits.max_head_bytes = 64;
  CHECK(decodeAll("0\r\nA: " + std::string(80, 'b') + "\r\n\r\n", limits) ==
        " error 431 trailer section too large");
}

TEST_CASE("a decoder is ready again after reset") {
  ChunkedDecoder decoder;
  CHECK(decoder.next("zz", 2, {}).step == ChunkStep::kError);
  CHECK(decoder.next("5\r\n", 3, {}).step == ChunkStep::kError);
  decoder.reset();
  const ChunkPiece piece = decoder.next("2\r\nab\r\n", 7, {});
  CHECK(piece.step == ChunkStep::kData);
  CHECK(std::string(piece.data, piece.size) == "ab");
  decoder.reset();
  const ChunkPiece end = decoder.next("0\r\n\r\nrest", 9, {});
  CHECK(end.step == ChunkStep::kDone);
  CHECK(end.consumed == 5);
}

}  // namespace
}  // namespace roost::http::h1
