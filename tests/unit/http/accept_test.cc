#include "http/accept.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::http {
namespace {

TEST_CASE("accept: weights", "[http]") {
  CHECK(parseQuality("1") == 1000);
  CHECK(parseQuality("0") == 0);
  CHECK(parseQuality("0.") == 0);
  CHECK(parseQuality("0.5") == 500);
  CHECK(parseQuality("0.125") == 125);
  CHECK(parseQuality("1.000") == 1000);
  for (const char* text : {"", "2", ".5", "0,5", "0.1234", "-1", "0.x", "1.5"})
    CHECK(parseQuality(text) == 1000);
}

TEST_CASE("accept: ranges", "[http]") {
  CHECK(rangeCovers("text/html", "text/html; charset=utf-8"));
  CHECK(rangeCovers("TEXT/*", "text/html"));
  CHECK(rangeCovers("*/*", "text/html"));
  CHECK_FALSE(rangeCovers("text/*", "image/png"));
  CHECK_FALSE(rangeCovers("te/*", "text/html"));
  CHECK_FALSE(rangeCovers("*", "text/html"));
  CHECK_FALSE(rangeCovers("", "text/html"));
  CHECK_FALSE(rangeCovers("text/htm", "text/html"));
  CHECK_FALSE(rangeCovers("image/*", ""));
}

}  // namespace
}  // namespace roost::http
