#include "http/error_page.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "http/message.h"

namespace roost::http {
namespace {

const std::vector<int> kOwnSentence = {400, 403, 404, 405, 408, 411, 412, 413, 414, 415, 416,
                                       417, 421, 426, 429, 431, 500, 501, 502, 503, 504, 505};

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  REQUIRE(from != std::string::npos);
  const size_t to = text.find(end, from + begin.size());
  REQUIRE(to != std::string::npos);
  return text.substr(from + begin.size(), to - from - begin.size());
}

// Every start tag has its end tag in the right order, but for the elements that have none. "" when all is
// well, otherwise the tag at fault.
std::string firstUnbalancedTag(const std::string& page) {
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const size_t end = page.find_first_of("> \n", at);
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag == "!DOCTYPE" || tag == "meta" || tag == "link") {
      continue;
    }
    if (tag.front() != '/') {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

TEST_CASE("an error page is small, well formed HTML in plain ASCII", "[error_page]") {
  for (int status = 200; status < 600; ++status) {
    const std::string page = errorPage(status);
    if (page.empty()) {
      continue;
    }
    INFO(page);
    CHECK(page.size() < kErrorPageLimitBytes);
    CHECK(page.rfind("<!DOCTYPE html>\n<html lang=\"en\">", 0) == 0);
    CHECK(page.find("<meta charset=\"utf-8\">") != std::string::npos);
    CHECK(firstUnbalancedTag(page).empty());
    CHECK(page.find('&') == std::string::npos);
    CHECK(std::all_of(page.begin(), page.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}

TEST_CASE("an error page is complete in itself and does not name the server", "[error_page]") {
  const std::string page = errorPage(404);
  CHECK(page.find("roost") == std::string::npos);
  CHECK(page.find("://") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("prefers-color-scheme:dark") != std::string::npos);
  CHECK(page.find("rel=\"icon\" href=\"data:,\"") != std::string::npos);
}

TEST_CASE("title and heading say status and reason phrase", "[error_page]") {
  for (const int status : kOwnSentence) {
    const std::string expected = std::to_string(status) + " " + std::string(reasonPhrase(status));
    CHECK(between(errorPage(status), "<title>", "</title>") == expected);
    CHECK(between(errorPage(status), "<h1>", "</h1>") == expected);
    CHECK(errorText(status).rfind(expected + ": ", 0) == 0);
  }
}

TEST_CASE("each usual status has one sentence of its own", "[error_page]") {
  std::set<std::string> sentences = {between(errorPage(499), "<p>", "</p>"),
                                     between(errorPage(599), "<p>", "</p>")};
  for (const int status : kOwnSentence) {
    const std::string sentence = between(errorPage(status), "<p>", "</p>");
    INFO(status << " " << sentence);
    CHECK(sentences.insert(sentence).second);
    CHECK(std::count(sentence.begin(), sentence.end(), '.') == 1);
    CHECK(sentence.back() == '.');
  }
}

TEST_CASE("a status without a reason phrase gets its number and its class's sentence", "[error_page]") {
  REQUIRE(reasonPhrase(499).empty());
  CHECK(between(errorPage(499), "<h1>", "</h1>") == "499");
  CHECK(errorText(499) == "499: The server did not accept this request.\n");
  CHECK(errorText(599) == "599: The server could not complete this request.\n");
  CHECK(between(errorPage(399), "<p>", "</p>") == "What you asked for is at another address.");
}

TEST_CASE("the text variant is one line of text", "[error_page]") {
  for (const int status : kOwnSentence) {
    const std::string text = errorText(status);
    INFO(text);
    CHECK(text.size() < 120);
    CHECK(text.find('\n') == text.size() - 1);
    CHECK(text.find('<') == std::string::npos);
  }
}

// RFC 9110 sections 6.4.1 and 15.3.6.
TEST_CASE("a status that carries no content has no page", "[error_page]") {
  for (const int status : {100, 101, 103, 204, 205, 304}) {
    CHECK(errorPage(status).empty());
    CHECK(errorText(status).empty());
  }
  CHECK_FALSE(errorPage(200).empty());
  CHECK_FALSE(errorPage(301).empty());
}

}  // namespace
}  // namespace roost::http
