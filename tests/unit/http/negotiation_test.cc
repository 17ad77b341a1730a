#include "http/negotiation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "http/response_head.h"
#include "unit/http/head_builder.h"

namespace roost::http {
namespace {

CodingOrder orderOf(std::initializer_list<Coding> codings) {
  CodingOrder order;
  for (const Coding coding : codings) order.add(coding);
  return order;
}

const CodingOrder kAll = orderOf({Coding::kBrotli, Coding::kZstd, Coding::kGzip});

AcceptedCodings accepted(std::initializer_list<std::string_view> lines) {
  test::HeadBuilder builder;
  for (const std::string_view line : lines) builder.add(FieldId::kAcceptEncoding, line);
  return AcceptedCodings(builder.head());
}

// The name of what would be sent, or "none" where not even identity is acceptable.
std::string chosen(std::initializer_list<std::string_view> lines, const CodingOrder& offered = kAll) {
  const AcceptedCodings codings = accepted(lines);
  const Coding best = codings.best(offered);
  return codings.takes(best) ? std::string(codingName(best)) : "none";
}

TEST_CASE("AcceptedCodings: what is sent (RFC 9110 12.5.3)") {
  struct Row {
    std::string_view field;
    std::string_view wanted;
  };
  const Row rows[] = {
      {"gzip", "gzip"},
      {"br", "br"},
      {"zstd", "zstd"},
      {"x-gzip", "gzip"},
      {"GZip", "gzip"},
      {"gzip, br, zstd", "br"},
      {"gzip, zstd", "zstd"},
      {"gzip, deflate, br", "br"},
      {"gzip, deflate", "gzip"},
      {"deflate", "identity"},
      {"compress, deflate", "identity"},
      {"gz", "identity"},
      {"zst", "identity"},
      {"", "identity"},
      {",,", "identity"},
      {"*", "br"},
      {"identity", "identity"},
      {"identity, gzip", "gzip"},
      {"identity;q=1, gzip;q=0.5", "identity"},
      {"identity;q=0.5, gzip;q=1", "gzip"},
      {"identity;q=0.5, gzip;q=0.5", "gzip"},
      {"gzip;q=0.001", "gzip"},
      {"gzip;q=0", "identity"},
      {"gzip;q=0.000", "identity"},
      {"gzip;q=1.0, br;q=0.9", "gzip"},
      {"gzip;q=0.8, br;q=0.9, zstd;q=0.85", "br"},
      {"gzip;q=0.8, br;q=0.1, zstd;q=0.85", "zstd"},
      {"br;q=0, *", "zstd"},
      {"br;q=0, zstd;q=0, *", "gzip"},
      {"*;q=0", "none"},
      {"identity;q=0", "none"},
      {"identity;q=0, gzip", "gzip"},
      {"*;q=0, gzip", "gzip"},
      {"*;q=0, identity", "identity"},
      {"*;q=0, identity;q=0.1, gzip;q=0", "identity"},
      {"deflate, *;q=0", "none"},
      {"gzip;q=0.2, *;q=0.5", "br"},
      {"br;q=0.2, zstd;q=0.2, gzip;q=0.2, *;q=0.5", "identity"},
      {"gzip ; q=0.5 , br\t;\tq=0.4", "gzip"},
      {"gzip;Q=0.5", "gzip"},
      {"gzip;q=0.5;q=1", "identity"},
      {"gzip;q=", "identity"},
      {"gzip;q", "identity"},
      {"gzip;", "identity"},
      {"gzip;q=2", "identity"},
      {"gzip;q=1.001", "identity"},
      {"gzip;q=-1", "identity"},
      {"gzip;q=.5", "identity"},
      {"gzip;q=0.5555", "identity"},
      {"gzip;q= 0.5", "identity"},
      {"gzip;q =0.5", "identity"},
      {"gzip;q=\"0.5\"", "identity"},
      {"gzip;level=9", "identity"},
      {"gzip;q=abc, br", "br"},
      {"gzip;q=0, gzip", "identity"},
      {"gzip, gzip;q=0", "gzip"},
      {"x-gzip;q=0, gzip", "identity"},
      {"*;q=0, *", "none"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.field);
    CHECK(chosen({row.field}) == row.wanted);
  }
}

TEST_CASE("AcceptedCodings: no field, and several lines") {
  CHECK(chosen({}) == "identity");
  CHECK(chosen({"gzip", "br"}) == "br");
  CHECK(chosen({"gzip;q=1", "br;q=0.5"}) == "gzip");
  CHECK(chosen({"identity;q=0", "br;q=0", "gzip"}) == "gzip");
  CHECK(chosen({"", "gzip"}) == "gzip");
}

TEST_CASE("AcceptedCodings: the server's order decides among equals, and only what is offered is chosen") {
  const CodingOrder gzip_first = orderOf({Coding::kGzip, Coding::kBrotli});
  CHECK(chosen({"br, gzip, zstd"}, gzip_first) == "gzip");
  CHECK(chosen({"br, gzip;q=0.9, zstd"}, gzip_first) == "br");
  CHECK(chosen({"zstd"}, gzip_first) == "identity");
  CHECK(chosen({"*"}, {}) == "identity");
  CHECK(chosen({"gzip"}, {}) == "identity");
  CHECK(chosen({"gzip, identity;q=0"}, {}) == "none");
}

TEST_CASE("AcceptedCodings: a field without end is read up to a limit") {
  std::string many;
  for (size_t i = 0; i < AcceptedCodings::kMostElements; ++i) many += "x, ";
  CHECK(chosen({many.substr(3) + "gzip"}) == "gzip");
  CHECK(chosen({many + "gzip"}) == "identity");
}

TEST_CASE("AcceptedCodings: weights") {
  CHECK_FALSE(accepted({}).takesAny());
  CHECK_FALSE(accepted({"identity, gzip;q=0"}).takesAny());
  CHECK(accepted({"gzip;q=0.001"}).takesAny());
  CHECK(accepted({"gzip"}).weight(Coding::kGzip) == AcceptedCodings::kMost);
  CHECK(accepted({"gzip;q=0.001"}).weight(Coding::kGzip) > accepted({"gzip"}).weight(Coding::kIdentity));
}

TEST_CASE("parseWeight (RFC 9110 12.4.2)") {
  CHECK(parseWeight("0") == 0);
  CHECK(parseWeight("0.") == 0);
  CHECK(parseWeight("1") == 1000);
  CHECK(parseWeight("1.") == 1000);
  CHECK(parseWeight("1.000") == 1000);
  CHECK(parseWeight("0.5") == 500);
  CHECK(parseWeight("0.05") == 50);
  CHECK(parseWeight("0.123") == 123);
  for (const std::string_view bad :
       {"", "2", "1.1", "1.001", "0.1234", "0,5", "00", "0.a", "+1", "1e0", "01"}) {
    CAPTURE(bad);
    CHECK(parseWeight(bad) == -1);
  }
}

TEST_CASE("codings have names") {
  for (const Coding coding : kCodings) {
    CHECK(codingByName(codingName(coding)) == coding);
    CHECK(codingByName(codingSuffix(coding).substr(1)) == coding);
  }
  CHECK(codingByName("x-GZIP") == Coding::kGzip);
  CHECK(codingByName("identity") == Coding::kIdentity);
  CHECK(codingByName("deflate") == Coding::kIdentity);
  CHECK(codingByName("") == Coding::kIdentity);
}

TEST_CASE("addVaryOnEncoding says it once") {
  const auto varyOf = [](std::initializer_list<std::string_view> lines) {
    ResponseHead head(200);
    for (const std::string_view line : lines) head.add("Vary", line);
    addVaryOnEncoding(head);
    return std::string(head.lines());
  };
  CHECK(varyOf({}) == "Vary: Accept-Encoding\r\n");
  CHECK(varyOf({"Origin"}) == "Vary: Origin\r\nVary: Accept-Encoding\r\n");
  CHECK(varyOf({"Origin, accept-encoding"}) == "Vary: Origin, accept-encoding\r\n");
  CHECK(varyOf({"Origin", "Accept-Encoding"}) == "Vary: Origin\r\nVary: Accept-Encoding\r\n");
  CHECK(varyOf({"*"}) == "Vary: *\r\n");
}

TEST_CASE("hasCacheDirective") {
  ResponseHead head(200);
  head.add("Cache-Control", "max-age=60, private=\"no-transform\"");
  CHECK_FALSE(hasCacheDirective(head, "no-transform"));
  head.add("cache-control", "public, No-Transform");
  CHECK(hasCacheDirective(head, "no-transform"));
}

}  // namespace
}  // namespace roost::http
