#include "http/mime.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>

#include "http/mime_builtin.h"

namespace roost::http {
namespace {

constexpr std::string_view kDefault = MimeTable::kDefaultType;

TEST_CASE("MimeTable: the types of the web") {
  const MimeTable table;
  const std::pair<const char*, const char*> expected[] = {
      {"/index.html", "text/html"},
      {"/a/b.css", "text/css"},
      {"/app.js", "text/javascript"},
      {"/app.mjs", "text/javascript"},
      {"/data.json", "application/json"},
      {"/app.js.map", "application/json"},
      {"/m.wasm", "application/wasm"},
      {"/i.webp", "image/webp"},
      {"/i.avif", "image/avif"},
      {"/i.svg", "image/svg+xml"},
      {"/f.woff2", "font/woff2"},
      {"/s.webmanifest", "application/manifest+json"},
      {"/r.md", "text/markdown"},
      {"/t.csv", "text/csv"},
      {"/v.mp4", "video/mp4"},
      {"/v.webm", "video/webm"},
      {"/f.pdf", "application/pdf"},
      {"/x.tar.gz", "application/gzip"},
      {"/favicon.ico", "image/x-icon"},
      {"/i.jpeg", "image/jpeg"},
      {"/robots.txt", "text/plain"},
      {"/feed.xml", "application/xml"},
      {"/live.m3u8", "application/vnd.apple.mpegurl"},
      {"/v.vtt", "text/vtt"},
  };
  for (const auto& [path, type] : expected) {
    INFO(path);
    CHECK(table.lookup(path) == type);
  }
}

TEST_CASE("MimeTable: the built-in list names every extension once") {
  std::set<std::string> seen;
  size_t types = 0;
  for (const internal::BuiltinType& builtin : internal::kBuiltinTypes) {
    ++types;
    std::string extensions(builtin.extensions);
    for (size_t at = 0; at <= extensions.size();) {
      const size_t end = std::min(extensions.find(' ', at), extensions.size());
      const std::string extension = extensions.substr(at, end - at);
      INFO(extension);
      CHECK_FALSE(extension.empty());
      CHECK(extension.size() <= MimeTable::kMaxExtensionBytes);
      CHECK(seen.insert(extension).second);
      CHECK(MimeTable().lookup("x." + extension) == builtin.type);
      at = end + 1;
    }
  }
  CHECK(types >= 110);
  CHECK(MimeTable().size() == seen.size());
}

TEST_CASE("MimeTable: what is an extension") {
  const MimeTable table;
  CHECK(table.lookup("/INDEX.HTML") == "text/html");
  CHECK(table.lookup("/a.Html") == "text/html");
  CHECK(table.lookup("a.html") == "text/html");
  CHECK(table.lookup("/dir.css/a.html") == "text/html");
  CHECK(table.lookup("/..html") == "text/html");
  for (const char* path :
       {"", "/", ".", "/.", "html", "/html", "/.html", ".html", "/a/.css", "/dir.html/", "/dir.html/a", "/a.",
        "/a.html.", "/a.nosuch", "/a.html ", "/a.htmlhtmlhtmlhtmlhtml", "/a.htmlhtmlhtmlhtm"}) {
    INFO(path);
    CHECK(table.lookup(path) == kDefault);
  }
  CHECK(table.lookup(std::string("/a.html\0", 8)) == kDefault);  // padding is not part of a name
  CHECK(table.lookup(std::string("/a.\0", 4)) == kDefault);
}

TEST_CASE("MimeTable: the system's list fills gaps only") {
  MimeTable table;
  const size_t before = table.size();
  table.addSystemTypes(
      "# a comment\n"
      "text/plain\t\t\ttxt  sysx\r\n"
      "application/x-nothing\n"
      "application/javascript js\n"
      "\n"
      "chemical/x-pdb pdb ENT # xyz\n"
      "nonsense foo\n"
      "a/b/c foo\n"
      "/x foo\n"
      "application/x-long averylongextensionindeed lng\n"
      "application/x-last last");
  CHECK(table.lookup("a.sysx") == "text/plain");
  CHECK(table.lookup("a.js") == "text/javascript");
  CHECK(table.lookup("a.pdb") == "chemical/x-pdb");
  CHECK(table.lookup("a.ent") == "chemical/x-pdb");
  CHECK(table.lookup("a.xyz") == kDefault);
  CHECK(table.lookup("a.foo") == kDefault);
  CHECK(table.lookup("a.lng") == "application/x-long");
  CHECK(table.lookup("a.last") == "application/x-last");
  CHECK(table.size() == before + 5);
}

TEST_CASE("MimeTable: reading a list from a file") {
  char path[] = "/tmp/roost_mime_XXXXXX";
  const int fd = ::mkstemp(path);
  REQUIRE(fd >= 0);
  const std::string text = "x/y onlyhere\n";
  REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(fd);
  MimeTable table;
  CHECK(table.loadSystemTypes(path) == 1);
  CHECK(table.lookup("a.onlyhere") == "x/y");
  ::unlink(path);
  CHECK(table.loadSystemTypes(path) == 0);
  CHECK(table.loadSystemTypes("/") == 0);
}

TEST_CASE("MimeTable: the configuration wins") {
  MimeTable table;
  CHECK(table.add("js", "application/javascript").ok());
  CHECK(table.add(".NEW", "text/x-new; charset=us-ascii").ok());
  table.addSystemTypes("text/x-other new\n");
  CHECK(table.lookup("a.js") == "application/javascript");
  CHECK(table.lookup("a.mjs") == "text/javascript");
  CHECK(table.lookup("a.new") == "text/x-new; charset=us-ascii");
  CHECK(table.setDefault("text/plain").ok());
  CHECK(table.lookup("/a") == "text/plain");
  CHECK(table.lookup("/a.bin") == kDefault);
}

TEST_CASE("MimeTable: errors name the text") {
  MimeTable table;
  for (const std::string bad : {"", ".", "tar.gz", "a/b", "a b", "sixteencharacter"}) {
    INFO(bad);
    const Status status = table.add(bad, "a/b");
    REQUIRE_FALSE(status.ok());
    CHECK(status.message().find("\"" + bad + "\"") == 0);
  }
  for (const std::string bad : {"", "text", "/", "text/", "/html", "a/b/c", "te xt/html", "text/html\r\nX: y",
                                "text/html;\x01", "text/h\xc3\xa9"}) {
    INFO(bad);
    const Status status = table.add("x", bad);
    REQUIRE_FALSE(status.ok());
    CHECK(status.message().find("\"" + bad + "\"") == 0);
    CHECK_FALSE(table.setDefault(bad).ok());
  }
}

TEST_CASE("MimeTable: grows, and survives being moved") {
  MimeTable table;
  for (int i = 0; i < 5000; ++i) REQUIRE(table.add("g" + std::to_string(i), "x/g" + std::to_string(i)).ok());
  const MimeTable moved = std::move(table);
  for (int i = 0; i < 5000; ++i)
    REQUIRE(moved.lookup("a.g" + std::to_string(i)) == "x/g" + std::to_string(i));
  CHECK(moved.lookup("a.html") == "text/html");
  CHECK(moved.lookup("a.g5000") == kDefault);
}

TEST_CASE("isText: where a charset belongs") {
  for (const char* type : {"text/html", "text/plain", "TEXT/CSS", "text/javascript", "application/javascript",
                           "text/plain; format=flowed", "text/html ;x=y"}) {
    INFO(type);
    CHECK(isText(type));
  }
  for (const char* type : {"", "text", "textual/html", "application/json", "image/svg+xml", "application/xml",
                           "image/png", "application/wasm", "text/html; charset=utf-8",
                           "text/html;Charset=\"x\"", "application/javascriptx"}) {
    INFO(type);
    CHECK_FALSE(isText(type));
  }
}

}  // namespace
}  // namespace roost::http
