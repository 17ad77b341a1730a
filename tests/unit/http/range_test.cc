#include "http/range.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/http/head_builder.h"

namespace roost::http {
namespace {

// "200", "416", or "206 first-last first-last".
std::string tell(const RangeRequest& request) {
  if (request.outcome == RangeOutcome::kWhole) return "200";
  if (request.outcome == RangeOutcome::kUnsatisfiable) return "416";
  std::string text = "206";
  for (const ByteRange& range : request) {
    text += " " + std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

std::string parse(std::string_view value, uint64_t size = 1000, size_t max_ranges = kDefaultMaxRanges) {
  return tell(parseRange(value, size, max_ranges));
}

TEST_CASE("Range: one range (RFC 9110 14.1.2)") {
  CHECK(parse("bytes=0-499") == "206 0-499");
  CHECK(parse("bytes=500-999") == "206 500-999");
  CHECK(parse("bytes=0-0") == "206 0-0");
  CHECK(parse("bytes=999-999") == "206 999-999");
  CHECK(parse("bytes=0-") == "206 0-999");
  CHECK(parse("bytes=999-") == "206 999-999");
  CHECK(parse("bytes=0-5000") == "206 0-999");
  CHECK(parse("bytes=900-1000") == "206 900-999");
  CHECK(parse("bytes=000-0000001") == "206 0-1");
}

TEST_CASE("Range: suffixes (RFC 9110 14.1.2)") {
  CHECK(parse("bytes=-500") == "206 500-999");
  CHECK(parse("bytes=-1") == "206 999-999");
  CHECK(parse("bytes=-1000") == "206 0-999");
  CHECK(parse("bytes=-5000") == "206 0-999");
  CHECK(parse("bytes=-0") == "416");
  CHECK(parse("bytes=-0,0-0") == "206 0-0");
}

TEST_CASE("Range: unsatisfiable (RFC 9110 15.5.17)") {
  CHECK(parse("bytes=1000-") == "416");
  CHECK(parse("bytes=1000-2000") == "416");
  CHECK(parse("bytes=1000-, -0") == "416");
  CHECK(parse("bytes=1000-,5-6") == "206 5-6");
  CHECK(parse("bytes=18446744073709551615-") == "416");
  CHECK(parse("bytes=18446744073709551616-") == "416");
  CHECK(parse("bytes=99999999999999999999999-") == "416");
}

TEST_CASE("Range: numbers beyond 64 bits are merely beyond the end") {
  CHECK(parse("bytes=0-18446744073709551615") == "206 0-999");
  CHECK(parse("bytes=0-99999999999999999999999999") == "206 0-999");
  CHECK(parse("bytes=-99999999999999999999999999") == "206 0-999");
  CHECK(parse("bytes=0-", UINT64_MAX) == "206 0-18446744073709551614");
  CHECK(parse("bytes=18446744073709551614-18446744073709551614,0-0", UINT64_MAX) ==
        "206 18446744073709551614-18446744073709551614 0-0");
}

TEST_CASE("Range: other units and malformed values are ignored (RFC 9110 14.2)") {
  for (const char* value : {"",
                            "bytes",
                            "bytes=",
                            "bytes=,",
                            "bytes= , ,",
                            "bytes:0-1",
                            "bytes =0-1",
                            "byte=0-1",
                            "bytesx=0-1",
                            "seconds=0-1",
                            "0-1",
                            "=0-1",
                            "bytes=a-b",
                            "bytes=0",
                            "bytes=-",
                            "bytes=--1",
                            "bytes=0--1",
                            "bytes=0-1-2",
                            "bytes=1 - 2",
                            "bytes=0 -1",
                            "bytes=0- 1",
                            "bytes=5-4",
                            "bytes=0-1;x",
                            "bytes=0-1 5-6",
                            "bytes=+1-2",
                            "bytes=0x0-1",
                            "bytes=0-1,x",
                            "bytes=x,0-1",
                            "bytes=0-1,5-4",
                            "bytes=1000-999",
                            "bytes=\"0-1\"",
                            "bytes=0-1,bytes=2-3",
                            "bytes==0-1",
                            "bytes=0-1.",
                            "bytes=\xd9\xa1-2",
                            "none"}) {
    INFO(value);
    CHECK(parse(value) == "200");
  }
  CHECK(parse(std::string_view("bytes=0-1\0", 10)) == "200");
}

TEST_CASE("Range: the unit in any case, whitespace and empty elements in the list (RFC 9110 14.1, 5.6.1)") {
  CHECK(parse("Bytes=0-1") == "206 0-1");
  CHECK(parse("BYTES=0-1") == "206 0-1");
  CHECK(parse("bytes=0-1 ,\t5-6") == "206 0-1 5-6");
  CHECK(parse("bytes=,0-1,,5-6,") == "206 0-1 5-6");
}

TEST_CASE("Range: several in the order of the request (RFC 9110 15.3.7.2)") {
  CHECK(parse("bytes=0-9,20-29") == "206 0-9 20-29");
  CHECK(parse("bytes=20-29,0-9") == "206 20-29 0-9");
  CHECK(parse("bytes=-10,500-509,0-0") == "206 990-999 500-509 0-0");
}

TEST_CASE("Range: overlapping and touching ranges become one (RFC 9110 15.3.7.2)") {
  CHECK(parse("bytes=0-9,5-19") == "206 0-19");
  CHECK(parse("bytes=0-9,10-19") == "206 0-19");
  CHECK(parse("bytes=10-19,0-9") == "206 0-19");
  CHECK(parse("bytes=0-9,11-19") == "206 0-9 11-19");
  CHECK(parse("bytes=0-99,5-6") == "206 0-99");
  CHECK(parse("bytes=5-6,0-99") == "206 0-99");
  CHECK(parse("bytes=100-109,0-9,105-119,20-29") == "206 0-9 20-29 100-119");
  CHECK(parse("bytes=0-9,20-29,5-24") == "206 0-29");
  CHECK(parse("bytes=0-0,0-0") == "206 0-0");
  CHECK(parse("bytes=0-499,500-999") == "206 0-999");
}

TEST_CASE("Range: floods get the whole representation (RFC 9110 14.2, 17.15)") {
  std::string flood = "bytes=0-0";
  for (int i = 1; i < 16; ++i) flood += "," + std::to_string(i * 2) + "-" + std::to_string(i * 2);
  CHECK(parseRange(flood, 1000).count == 16);
  CHECK(parse(flood + ",100-100") == "200");
  CHECK(parse(flood + ",2000-2000") == "200");  // those beyond the end count as well
  CHECK(parse("bytes=0-0,2-2", 1000, 1) == "200");
  CHECK(parse("bytes=0-0", 1000, 0) == "200");
  CHECK(parse("bytes=0-999,0-0") == "200");
  CHECK(parse("bytes=0-,0-,0-") == "200");
  CHECK(parse("bytes=-600,0-399") == "206 0-999");
  CHECK(parse("bytes=-600,0-400") == "200");
  std::string most = "bytes=0-0";
  for (int i = 1; i < 32; ++i) most += "," + std::to_string(i * 2) + "-" + std::to_string(i * 2);
  CHECK(parseRange(most, 1000, 1000).count == RangeRequest::kCapacity);
  CHECK(parse(most + ",100-100", 1000, 1000) == "200");
}

TEST_CASE("Range: an empty representation (RFC 9110 14.1.2)") {
  CHECK(parse("bytes=0-", 0) == "416");
  CHECK(parse("bytes=0-0", 0) == "416");
  CHECK(parse("bytes=-0", 0) == "416");
  CHECK(parse("bytes=-1", 0) == "200");
  CHECK(parse("bytes=0-0,-1", 0) == "200");
  CHECK(parse("bytes=x", 0) == "200");
}

TEST_CASE("Range: only GET, only one line (RFC 9110 14.2)") {
  const auto ask = [](Method method, std::initializer_list<std::pair<FieldId, std::string_view>> fields) {
    test::HeadBuilder builder(method, fields);
    return tell(parseRange(builder.head(), 1000));
  };
  CHECK(ask(Method::kGet, {}) == "200");
  CHECK(ask(Method::kGet, {{FieldId::kRange, "bytes=0-1"}}) == "206 0-1");
  CHECK(ask(Method::kHead, {{FieldId::kRange, "bytes=0-1"}}) == "200");
  CHECK(ask(Method::kHead, {{FieldId::kRange, "bytes=5000-"}}) == "200");
  CHECK(ask(Method::kPost, {{FieldId::kRange, "bytes=0-1"}}) == "200");
  CHECK(ask(Method::kGet, {{FieldId::kRange, "bytes=0-1"}, {FieldId::kRange, "bytes=5-6"}}) == "200");
}

TEST_CASE("Content-Range (RFC 9110 14.4)") {
  char out[kMaxContentRange];
  CHECK(std::string(out, formatContentRange({0, 499}, 1234, out)) == "bytes 0-499/1234");
  CHECK(std::string(out, formatUnsatisfiedRange(1234, out)) == "bytes */1234");
  CHECK(std::string(out, formatUnsatisfiedRange(0, out)) == "bytes */0");
  const std::string max = "18446744073709551615";
  CHECK(std::string(out, formatContentRange({UINT64_MAX, UINT64_MAX}, UINT64_MAX, out)) ==
        "bytes " + max + "-" + max + "/" + max);
  CHECK(max.size() * 3 + 8 == kMaxContentRange);
}

std::string assemble(const MultipartRanges& parts, const RangeRequest& request, const std::string& content) {
  std::string body;
  for (size_t i = 0; i < request.count; ++i) {
    std::vector<char> head(parts.maxPartHead());
    body.append(head.data(), parts.formatPartHead(i, request.ranges[i], head.data()));
    body.append(content, request.ranges[i].first, request.ranges[i].size());
  }
  char end[MultipartRanges::kEndSize];
  return body.append(end, parts.formatEnd(end));
}

TEST_CASE("multipart/byteranges (RFC 9110 14.6)") {
  const std::string content = "0123456789abcdefghij";
  const RangeRequest request = parseRange("bytes=0-2,10-14", content.size());
  const MultipartRanges parts("text/plain", content.size());
  const std::string b(parts.boundary());
  const std::string expected =
      "--" + b + "\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-2/20\r\n\r\n012\r\n--" + b +
      "\r\nContent-Type: text/plain\r\nContent-Range: bytes 10-14/20\r\n\r\nabcde\r\n--" + b + "--\r\n";
  CHECK(assemble(parts, request, content) == expected);
  CHECK(parts.totalLength(request) == expected.size());

  const MultipartRanges untyped("", content.size());
  const std::string body = assemble(untyped, request, content);
  CHECK(body.find("Content-Type") == std::string::npos);
  CHECK(untyped.totalLength(request) == body.size());
}

TEST_CASE("multipart/byteranges: the length told is the length sent, for numbers of any width") {
  const std::string content(123456, 'x');
  for (const char* value : {"bytes=0-0,9-9", "bytes=9-10,99-100,999-1000,9999-10000,99999-100000",
                            "bytes=-1,0-0", "bytes=5-6", "bytes=123450-,0-122"}) {
    const RangeRequest request = parseRange(value, content.size());
    const MultipartRanges parts("application/octet-stream", content.size());
    INFO(value);
    CHECK(parts.totalLength(request) == assemble(parts, request, content).size());
  }
  const RangeRequest huge = parseRange("bytes=18446744073709551600-,0-0", UINT64_MAX);
  const MultipartRanges parts("a/b", UINT64_MAX);
  std::vector<char> head(parts.maxPartHead());
  uint64_t length = huge.ranges[0].size() + 1 + MultipartRanges::kEndSize;
  for (size_t i = 0; i < 2; ++i) length += parts.formatPartHead(i, huge.ranges[i], head.data());
  CHECK(parts.totalLength(huge) == length);
}

TEST_CASE("multipart/byteranges: boundaries (RFC 2046 5.1.1)") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const MultipartRanges parts("a/b", 1);
    const std::string boundary(parts.boundary());
    CHECK(boundary.find_first_not_of("0123456789abcdef") == std::string::npos);
    seen.insert(boundary);
  }
  CHECK(seen.size() == 1000);
  std::string others[2];
  std::thread a([&] { others[0] = MultipartRanges("a/b", 1).boundary(); });
  std::thread b([&] { others[1] = MultipartRanges("a/b", 1).boundary(); });
  a.join();
  b.join();
  CHECK(others[0] != others[1]);
}

}  // namespace
}  // namespace roost::http
