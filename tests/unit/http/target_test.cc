#include "http/target.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "unit/http/naive_path.h"

namespace roost::http {
namespace {

struct Decoded {
  DecodedPath path;
  std::string text;
};

Decoded decode(const std::string& raw) {
  // Exactly the room that is required, on the heap, so that a byte too many is seen.
  const size_t capacity = raw.size() + 1;
  const std::unique_ptr<char[]> out(new char[capacity]);
  Decoded result{decodePath(raw, out.get(), capacity), ""};
  if (result.path.ok()) {
    result.text.assign(out.get(), result.path.size);
    REQUIRE(out[result.path.size] == '\0');
  }
  return result;
}

std::string pathOf(const std::string& raw) {
  const Decoded decoded = decode(raw);
  INFO(raw << ": " << pathErrorText(decoded.path.error));
  REQUIRE(decoded.path.ok());
  return decoded.text;
}

PathError errorOf(const std::string& raw) {
  return decode(raw).path.error;
}

std::string dotSegmentOf(const std::string& raw) {
  const Decoded decoded = decode(raw);
  REQUIRE(decoded.path.ok());
  return decoded.text.substr(decoded.path.dot_segment_off, decoded.path.dot_segment_len);
}

TEST_CASE("decodePath: plain paths stay as they are") {
  for (const char* raw : {"/", "/index.html", "/a/b/c", "/a/b/", "/a.b/c..d/...", "/a;b=c/@:!$&'()*+,=~-_",
                          "/\\..\\a", "/\xc3\xa9", "/a b", "/..a/b..", "/.../x"}) {
    const Decoded decoded = decode(raw);
    INFO(raw);
    CHECK(decoded.text == raw);
    CHECK_FALSE(decoded.path.changed);
  }
}

TEST_CASE("decodePath: escapes are decoded exactly once (RFC 3986 2.4)") {
  CHECK(pathOf("/%61%2Db%2d") == "/a-b-");
  CHECK(pathOf("/%252e%252e/") == "/%2e%2e/");
  CHECK(pathOf("/%25%32%46") == "/%2F");
  CHECK(pathOf("/a%20b") == "/a b");
  CHECK(pathOf("/%E2%82%AC") == "/\xe2\x82\xac");
  CHECK(pathOf("/%ff%80") == "/\xff\x80");
  CHECK(pathOf("/%5c..%5C") == "/\\..\\");
  CHECK(pathOf("/a%3fb%23c") == "/a?b#c");
  CHECK(decode("/%61").path.changed);
}

TEST_CASE("decodePath: malformed escapes are refused") {
  for (const char* raw :
       {"/%", "/%4", "/%4/", "/%4g", "/%g4", "/a%%41", "/%-1", "/% 1", "/%u0041", "/a%2", "/%\xff\xff"}) {
    INFO(raw);
    CHECK(errorOf(raw) == PathError::kBadEscape);
  }
}

TEST_CASE("decodePath: control characters are refused, plain and as escapes") {
  CHECK(errorOf("/a%00") == PathError::kControl);
  CHECK(errorOf("/a%00.html") == PathError::kControl);
  CHECK(errorOf(std::string("/a\0b", 4)) == PathError::kControl);
  CHECK(errorOf("/%0d%0aX: y") == PathError::kControl);
  CHECK(errorOf("/%0A") == PathError::kControl);
  CHECK(errorOf("/%1f") == PathError::kControl);
  CHECK(errorOf("/%7F") == PathError::kControl);
  CHECK(errorOf("/\x7f") == PathError::kControl);
  CHECK(errorOf("/\t") == PathError::kControl);
}

TEST_CASE("decodePath: an encoded slash is refused") {
  CHECK(errorOf("/a%2Fb") == PathError::kEncodedSlash);
  CHECK(errorOf("/a%2fb") == PathError::kEncodedSlash);
  CHECK(errorOf("/..%2f..%2fetc/passwd") == PathError::kEncodedSlash);
}

TEST_CASE("decodePath: dot segments (RFC 3986 5.2.4), after decoding") {
  CHECK(pathOf("/a/b/c/./../../g") == "/a/g");
  CHECK(pathOf("/.") == "/");
  CHECK(pathOf("/./") == "/");
  CHECK(pathOf("/a/.") == "/a/");
  CHECK(pathOf("/a/..") == "/");
  CHECK(pathOf("/a/../") == "/");
  CHECK(pathOf("/a/b/..") == "/a/");
  CHECK(pathOf("/a/b/../c") == "/a/c");
  CHECK(pathOf("/a/%2e/b") == "/a/b");
  CHECK(pathOf("/a/%2e%2E/b") == "/b");
  CHECK(pathOf("/a/.%2e/b") == "/b");
  CHECK(pathOf("/a/b/c/../../../d") == "/d");
  CHECK(pathOf("/a/x./y") == "/a/x./y");
}

TEST_CASE("decodePath: nothing climbs above the root") {
  for (const char* raw : {"/..", "/../", "/../a", "/a/../..", "/a/../../b", "/%2e%2e/a", "/.%2e", "/./..",
                          "//..", "/a//../..", "/a/./../../b/c"}) {
    INFO(raw);
    CHECK(errorOf(raw) == PathError::kAboveRoot);
  }
}

TEST_CASE("decodePath: repeated slashes become one") {
  CHECK(pathOf("//") == "/");
  CHECK(pathOf("//evil.example/a") == "/evil.example/a");
  CHECK(pathOf("/a//b///c//") == "/a/b/c/");
  CHECK(pathOf("/a//../b") == "/b");  // merged first: the empty segment is none to climb out of
  CHECK(pathOf("/a/.//b") == "/a/b");
}

TEST_CASE("decodePath: not absolute, too long") {
  CHECK(errorOf("") == PathError::kNotAbsolute);
  CHECK(errorOf("*") == PathError::kNotAbsolute);
  CHECK(errorOf("a/b") == PathError::kNotAbsolute);
  CHECK(errorOf("%2Fa") == PathError::kNotAbsolute);
  char out[8];
  CHECK(decodePath("/234567", out, sizeof out).ok());
  CHECK(decodePath("/2345678", out, sizeof out).error == PathError::kTooLong);
  CHECK(decodePath("/", out, 0).error == PathError::kTooLong);
}

TEST_CASE("decodePath: whether it ends with a slash, whether it changed") {
  CHECK(decode("/").path.ends_with_slash);
  CHECK(decode("/a/").path.ends_with_slash);
  CHECK(decode("/a/.").path.ends_with_slash);
  CHECK(decode("/a/b/..").path.ends_with_slash);
  CHECK_FALSE(decode("/a").path.ends_with_slash);
  CHECK_FALSE(decode("/a/./b").path.ends_with_slash);
  CHECK(decode("/a/./b").path.changed);
  CHECK(decode("//a").path.changed);
  CHECK_FALSE(decode("/a%25").text == "/a%25");
}

TEST_CASE("decodePath: the first dot-file") {
  CHECK(dotSegmentOf("/a/b").empty());
  CHECK(dotSegmentOf("/a.b/c").empty());
  CHECK(dotSegmentOf("/.git/config") == ".git");
  CHECK(dotSegmentOf("/%2egit/config") == ".git");
  CHECK(dotSegmentOf("/a/.htaccess") == ".htaccess");
  CHECK(dotSegmentOf("/.well-known/.x/.y") == ".well-known");
  CHECK(dotSegmentOf("/a/.../b") == "...");
  CHECK(dotSegmentOf("/..a") == "..a");
  CHECK(dotSegmentOf("/.git/../a").empty());
  CHECK(dotSegmentOf("/a/.b/.c/..") == ".b");
  CHECK(dotSegmentOf("/a/.b/../.d/x") == ".d");
  CHECK(dotSegmentOf("/.a/b/..") == ".a");
}

TEST_CASE("decodePath: agrees with a plain implementation and keeps its promises") {
  std::mt19937 random(11);  // NOLINT: the same cases every time
  const char* pieces[] = {"/", "/", "/",   ".",   "..", "a",   "bc",    "%2e", "%2E", "%2f",      "%25",
                          "%", "x", "%41", "%00", "\\", "%5c", "%252e", " ",   "\n",  "\xc3\xa9", "%7f"};
  size_t accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string raw = "/";
    for (size_t n = random() % 10; n > 0; --n) {
      // The refused pieces are rare, or nothing longer would ever be accepted.
      const size_t which = random() % std::size(pieces);
      const std::string piece = pieces[which];
      const bool refused =
          piece == "%2f" || piece == "%" || piece == "%00" || piece == "\n" || piece == "%7f";
      raw += refused && random() % 8 != 0 ? "/" : piece;
    }
    const Decoded decoded = decode(raw);
    const auto expected = test::naivePath(raw);
    INFO(raw);
    REQUIRE(decoded.path.ok() == expected.has_value());
    if (!expected) continue;
    ++accepted;
    REQUIRE(decoded.text == *expected);
    const std::string& text = decoded.text;
    REQUIRE(text[0] == '/');
    REQUIRE((text + "/").find("/../") == std::string::npos);
    REQUIRE((text + "/").find("/./") == std::string::npos);
    REQUIRE(text.find("//") == std::string::npos);
    REQUIRE(text.find('\0') == std::string::npos);
    REQUIRE(decoded.path.changed == (text != raw));
    REQUIRE((decoded.path.dot_segment_len != 0) == (text.find("/.") != std::string::npos));
    if (decoded.path.dot_segment_len != 0) {
      REQUIRE(decoded.path.dot_segment_off == text.find("/.") + 1);
      const size_t end = std::min(text.find('/', decoded.path.dot_segment_off), text.size());
      REQUIRE(decoded.path.dot_segment_off + decoded.path.dot_segment_len == end);
    }
    std::string encoded;
    appendEncodedPath(encoded, text);
    const Decoded again = decode(encoded);
    REQUIRE(again.path.ok());
    REQUIRE(again.text == text);
  }
  CHECK(accepted > 20000);
}

TEST_CASE("appendEncodedPath: RFC 3986 3.3 pchar") {
  const auto encode = [](std::string_view path) {
    std::string out = "x";
    appendEncodedPath(out, path);
    return out.substr(1);
  };
  CHECK(encode("/a/b-._~!$&'()*+,;=:@/Z9") == "/a/b-._~!$&'()*+,;=:@/Z9");
  CHECK(encode("/a b") == "/a%20b");
  CHECK(encode("/100%") == "/100%25");
  CHECK(encode("/?#[]\"<>\\^`{|}") == "/%3F%23%5B%5D%22%3C%3E%5C%5E%60%7B%7C%7D");
  CHECK(encode("/\xc3\xa9\r\n") == "/%C3%A9%0D%0A");
}

}  // namespace
}  // namespace roost::http
