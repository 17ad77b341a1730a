// Text to tree: what JSON allows, what we allow beyond it, and what is said about the rest.
#include "config/reader.h"

#include <catch2/catch.hpp>
#include <deque>

#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

namespace {

std::string blanked(std::string text) {
  std::vector<Token> tokens;
  REQUIRE_FALSE(blankExtensions(text, tokens).has_value());
  return text;
}

// "line:column: message" of the first error.
std::string firstError(const std::string& text) {
  const LoadResult result = loadString(text);
  REQUIRE_FALSE(result.ok());
  const Diagnostic& error = result.errors.front();
  return std::to_string(error.where.line) + ":" + std::to_string(error.where.column) + ": " + error.message;
}

}  // namespace

TEST_CASE("a comment behind # is told how comments are written", "[config][regression]") {
  const LoadResult result = loadString("{\n  # the port\n  \"port\": 80\n}");
  REQUIRE(result.errors.size() == 1);
  CHECK(result.errors[0].message == "comments begin with // or stand between /* and */, not behind #");
  CHECK(result.errors[0].where.line == 2);
  CHECK(loadString("{\"http\": {\"server_header\": \"#1\"}}").ok());
}

TEST_CASE("comments are blanked out and nothing moves", "[config]") {
  CHECK(blanked("{} // x\n") == "{}     \n");
  CHECK(blanked("{/*a\nb*/}") == "{   \n   }");
  CHECK(blanked("/**/1/***/") == "    1     ");
  CHECK(blanked("1 // a // b /* c") == "1" + std::string(15, ' '));
  CHECK(blanked("[1, // one\r\n 2]") == "[1,       \r\n 2]");
}

TEST_CASE("a string keeps what looks like a comment or a trailing comma", "[config]") {
  for (const std::string text : {R"({"a": "http://x/*y*/"})", R"(["//", "/*", "*/"])", R"(["a,]", ",}"])",
                                 R"(["\"//", "\\", "//"])", R"({"//": 1})"}) {
    CHECK(blanked(text) == text);
  }
}

TEST_CASE("a trailing comma is blanked out, through comments too", "[config]") {
  CHECK(blanked("[1,]") == "[1 ]");
  CHECK(blanked("{\"a\": [1, 2,],}") == "{\"a\": [1, 2 ] }");
  CHECK(blanked("[1, /* x */ ]") == "[1          ]");
  CHECK(blanked("[\"a\",\n]") == "[\"a\" \n]");
}

TEST_CASE("a comma that follows no value stays the mistake it is", "[config]") {
  for (const std::string text : {"[,]", "{,}", "[1,,]", "{\"a\":,}", "[,"}) CHECK(blanked(text) == text);
}

TEST_CASE("a byte order mark is blanked out and takes no column", "[config]") {
  CHECK(blanked("\xEF\xBB\xBF{}") == "   {}");
  CHECK(firstError("\xEF\xBB\xBF{\"prot\": 1}").find("1:2: ") == 0);
}

TEST_CASE("a comment that is never closed is shown where it opens", "[config]") {
  CHECK(firstError("{\n  /* port\n}") == "2:3: this comment is never closed with */");
}

TEST_CASE("a NUL byte is no end of the text", "[config]") {
  CHECK(firstError(std::string("{}\0{}", 5)).find("1:3: a NUL byte") == 0);
  CHECK(firstError(std::string("{\"port\": \"a\0b\"}", 15)).find("invalid string") != std::string::npos);
}

TEST_CASE("each value and key knows its line and column", "[config]") {
  const std::string text =
      "{ // first\n  \"port\": 80,\n\t\"http\": {\n    \"charset\": \"\xC3\xA9\", \"root_path\": \"x\" }}";
  std::deque<std::string> names{"f"};
  Errors errors;
  const auto root = readText(text, &names.front(), errors);
  REQUIRE(root);
  const Value& port = *root->find("port");
  CHECK((port.key_at.line == 2 && port.key_at.column == 3));
  CHECK((port.at.line == 2 && port.at.column == 11));
  const Value& http = *root->find("http");
  CHECK((http.at.line == 3 && http.at.column == 10));  // a tab is one column
  const Value& root_path = *http.find("root_path");
  CHECK((root_path.key_at.line == 4 && root_path.key_at.column == 21));  // two bytes are one column
  CHECK((root_path.at.line == 4 && root_path.at.column == 34));
}

TEST_CASE("places hold behind strings that contain every kind of bracket", "[config]") {
  std::deque<std::string> names{"f"};
  Errors errors;
  const auto root =
      readText(R"({"a": "{[,:]}\"", "b": [[], {}, -1.5e3, true, null, "x"]})", &names.front(), errors);
  REQUIRE(root);
  std::vector<uint32_t> columns;
  for (const Value& item : root->find("b")->children) columns.push_back(item.at.column);
  CHECK(columns == std::vector<uint32_t>{25, 29, 33, 41, 47, 53});
}

TEST_CASE("a missing comma is pointed at", "[config]") {
  CHECK(firstError("{\"port\": 1\n \"address\": 2}") ==
        "2:2: unexpected string; expected ',' or '}' (is a comma missing?)");
  CHECK(firstError("[1 2]") == "1:4: unexpected number; expected ',' or ']' (is a comma missing?)");
}

TEST_CASE("a missing colon, value or key is pointed at", "[config]") {
  CHECK(firstError("{\"a\" 1}") == "1:6: unexpected number; expected ':'");
  CHECK(firstError("{\"a\":}") == "1:6: unexpected '}'; expected '[', '{', or a value");
  CHECK(firstError("{,}") == "1:2: unexpected ','; expected a key in double quotes");
  CHECK(firstError("{\"a\": 1,,}") == "1:9: unexpected ','; expected a key in double quotes");
}

TEST_CASE("bare words, single quotes and other numbers are named", "[config]") {
  CHECK(firstError("{port: 1}") == "1:2: \"port\" cannot stand here: a key stands in double quotes");
  CHECK(firstError("{'port': 1}").find("1:2: \"'port'\" cannot stand here") == 0);
  CHECK(firstError("{\"a\": tru}") == "1:7: \"tru\" cannot stand here: text stands in double quotes");
  CHECK(firstError("{\"a\": 0x10}") == "1:7: \"0x10\" is not a number that JSON knows");
  CHECK(firstError("port = 1") == "1:1: \"port\" cannot stand here: text stands in double quotes");
}

TEST_CASE("a string that is not closed is shown where it opens", "[config]") {
  CHECK(firstError("{\"a\": \"abc\n}") == "1:7: this string is not closed in its line");
  CHECK(firstError("{\"a\": \"abc") == "1:7: this string is not closed in its line");
}

TEST_CASE("a file that ends too early says which bracket is open", "[config]") {
  CHECK(firstError("{\n\"http\": {\n\"sites\": [\n") ==
        "4:1: the file ends too early; expected '[', '{', or a value; the '[' of line 3 is still open");
}

TEST_CASE("text behind the end is an error", "[config]") {
  CHECK(firstError("{} {}") == "1:4: unexpected '{'; expected end of input");
  CHECK(firstError("{}}") == "1:3: unexpected '}'; expected end of input");
}

TEST_CASE("a syntax error shows its line with a caret", "[config]") {
  const LoadResult result = loadString("{\n\t\"a\": nope\n}");
  REQUIRE(result.errors.size() == 1);
  CHECK(result.errors[0].excerpt == "  2 | \t\"a\": nope\n    | \t     ^");
}

TEST_CASE("an excerpt of a long line is cut around the caret and shows no control characters", "[config]") {
  const LoadResult result =
      loadString("{\"a\": [" + std::string(5000, ' ') + "\x1b" + std::string(5000, '1') + "]}");
  REQUIRE(result.errors.size() == 1);
  CHECK(result.errors[0].excerpt.size() < 250);
  CHECK(result.errors[0].excerpt.find('\x1b') == std::string::npos);
  CHECK(result.errors[0].message.size() < 200);
}

TEST_CASE("a key given twice is an error at the second, and the rest is still checked", "[config]") {
  CHECK(errorsOf(loadString("{\"port\": 1,\n \"port\": 2,\n \"prot\": 3}")) ==
        "t.json:2:2: error: the key \"port\" is given twice, first in line 1\n"
        "t.json:3:2: error: unknown key \"prot\": did you mean \"port\"?\n");
  CHECK(errorsOf(loadString("{\"http\": {}, \"http\": {\"x\": {}}}")).find("given twice") !=
        std::string::npos);
}

TEST_CASE("nesting is bounded", "[config]") {
  CHECK(firstError(std::string(1000, '[')) == "1:65: nested too deep: at most 64 levels are allowed");
  CHECK(firstError(std::string(1000, '[') + std::string(1000, ']')).find("nested too deep") !=
        std::string::npos);
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  CHECK(firstError(objects).find("nested too deep") != std::string::npos);
}

TEST_CASE("a text of more than 4 MiB is an error", "[config]") {
  const LoadResult result = loadString("{}" + std::string(10u << 20, ' '));
  CHECK(errorsOf(result) == "t.json: error: the file is larger than 4 MiB\n");
}

TEST_CASE("an empty text, blanks or comments alone do not abort without reason", "[config]") {
  CHECK(errorsOf(loadString("")) == "t.json: error: the file is empty; the least that will do is {}\n");
  for (const std::string text : {" \n", "// nothing yet\n", "/* {} */", "\xEF\xBB\xBF"}) {
    CHECK(errorsOf(loadString(text)) ==
          "t.json: error: the file holds no configuration; the least that will do is {}\n");
  }
}

TEST_CASE("the whole configuration must be an object", "[config]") {
  CHECK(firstError("[]") == "1:1: the configuration must be an object, { ... }, not a list");
  CHECK(firstError(" 3") == "1:2: the configuration must be an object, { ... }, not an integer");
}

TEST_CASE("strings must be UTF-8", "[config]") {
  CHECK(firstError("{\"address\": \"\xFF\"}").find("ill-formed UTF-8") != std::string::npos);
}

TEST_CASE("escapes in strings and keys are understood", "[config]") {
  const LoadResult result = loadString(R"({"\u0070ort": 1, "http": {"charset": "a\u002db"}})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["http"]["charset"].asString() == "a-b");
  CHECK(result.config->root()["listen"].at(0)["port"].asInt() == 1);
}
