#include "http/escape.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::http {
namespace {

std::string html(std::string_view text) {
  std::string out;
  appendHtml(out, text);
  return out;
}

std::string json(std::string_view text) {
  std::string out;
  appendJson(out, text);
  return out;
}

constexpr const char* kBad = "\xef\xbf\xbd";

TEST_CASE("escape: names in a page", "[http]") {
  CHECK(html("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&#39;");
  CHECK(html("\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\xa6") == "\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\xa6");
  CHECK(html("a\xff"
             "b\xc3") == std::string("a") + kBad + "b" + kBad);
  CHECK(html("a\nb\x7f") == std::string("a") + kBad + "b" + kBad);
  CHECK(html(std::string_view("\0", 1)) == kBad);
  CHECK(html("").empty());
}

TEST_CASE("escape: names in JSON", "[http]") {
  CHECK(json("a\"b\\c/") == "\"a\\\"b\\\\c/\"");
  CHECK(json("\n\x1f\x7f") == "\"\\u000a\\u001f\\u007f\"");
  CHECK(json("\xc3\xbc") == "\"\xc3\xbc\"");
  CHECK(json("\xc3") == std::string("\"") + kBad + "\"");
  CHECK(json("") == "\"\"");
}

TEST_CASE("escape: what is a character in UTF-8", "[http]") {
  CHECK(utf8Size("a") == 1);
  CHECK(utf8Size("\xc2\x80") == 2);
  CHECK(utf8Size("\xe0\xa0\x80") == 3);
  CHECK(utf8Size("\xf4\x8f\xbf\xbf") == 4);
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\x80", "\xe2\x82",
        "\xed\xa0\x80", "\xf0\x8f\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x90", "\xff"}) {
    INFO(text);
    CHECK(utf8Size(text) == 0);
  }
}

}  // namespace
}  // namespace roost::http
