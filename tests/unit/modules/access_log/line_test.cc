// From requests to lines: what is recorded, and what the log thread makes of it.
#include <catch2/catch.hpp>
#include <string>

#include "http/message.h"
#include "log/escape.h"
#include "modules/access_log/line_format.h"
#include "modules/access_log/selection.h"
#include "support/h1_server.h"

namespace roost::modules::access_log {
namespace {

constexpr int64_t kNoonNs = 1'795'176'000'123'456'789;  // 2026-11-20T12:00:00.123456789Z

// Keeps the line of each exchange, without a log.
class Lines final : public http::ExchangeObserver {
 public:
  explicit Lines(LineFormat format) : texts_(format.texts()), writer_(std::move(format)) {}
  void onEnd(const http::Exchange& exchange, const http::Outcome& outcome) const noexcept override {
    add(Record(texts_, exchange), outcome);
  }
  std::unique_ptr<http::ParkedObserver> onPark(const http::Exchange&) const noexcept override {
    return nullptr;
  }
  void onUnrouted(const http::UnroutedRequest& request,
                  const http::Outcome& outcome) const noexcept override {
    add(Record(texts_, request, "0123456789abcdef0123456789abcdef"), outcome);
  }
  mutable std::vector<std::string> lines;

 private:
  void add(Record record, const http::Outcome& outcome) const {
    record.setOutcome(outcome);
    std::string bytes(record.bytes(), '\0');
    record.copyTo(bytes.data());
    log::LineBuffer out;
    writer_.appendLine(bytes.data(), kNoonNs, out);
    lines.emplace_back(out.data(), out.size());
  }
  const TextList texts_;
  mutable LineWriter writer_;
};

std::string lineFor(const std::string& format, const std::string& request, Escape escape = Escape::kHex) {
  auto compiled = LineFormat::compile(format, escape);
  REQUIRE(compiled.ok());
  const auto lines = std::make_shared<Lines>(std::move(compiled).value());
  test::H1Server server;
  server
      .on("/",
          [](http::Exchange& exchange) {
            http::ResponseHead head(200);
            exchange.setUser("anna");
            exchange.reply(head, "12345");
          })
      .observers.push_back(lines);
  server.start();
  server.ask(request);
  REQUIRE(lines->lines.size() == 1);
  REQUIRE(lines->lines[0].back() == '\n');
  return lines->lines[0].substr(0, lines->lines[0].size() - 1);
}

std::string errorOf(const std::string& format) {
  const auto compiled = LineFormat::compile(format, Escape::kHex);
  return compiled.ok() ? "" : compiled.status().message();
}

std::string escaped(std::string text, Escape escape) {
  std::string out(text.size() * log::kMostEscapedBytes + log::kEscapeSlack, '\0');
  const size_t size = text.size();
  text.resize(size + log::kEscapeSlack, '"');  // not looked at
  char* const end = escape == Escape::kJson ? log::putJsonEscaped(out.data(), text.data(), size)
                                            : log::putHexEscaped(out.data(), text.data(), size);
  out.resize(static_cast<size_t>(end - out.data()));
  return out;
}

}  // namespace

TEST_CASE("a format's variables", "[access_log]") {
  const std::string request =
      "GET /a%20b?x=1 HTTP/1.1\r\nHost: h.example:80\r\nUser-Agent: u\r\nX-Y: z\r\n\r\n";
  CHECK(lineFor("{method} {target} {path} {query} {host}", request) == "GET /a%20b?x=1 /a b x=1 h.example");
  CHECK(lineFor("{time} {time_unix}", request) == "2026-11-20T12:00:00.123Z 1795176000.123");
  CHECK(lineFor("{status} {bytes} {protocol} {scheme} {aborted}", request) == "200 5 HTTP/1.1 http false");
  CHECK(lineFor("{user} {site} {user_agent} {referer} {header.x-y} {upstream_ms}", request) ==
        "anna * u - z -");
  CHECK(lineFor("{{{request}}}", request) == "{GET /a%20b?x=1 HTTP/1.1}");
  CHECK(lineFor("{target}{target}{target}", request) == "/a%20b?x=1/a%20b?x=1/a%20b?x=1");
  CHECK(lineFor("[{referer}]", request, Escape::kJson) == "[]");
  CHECK(lineFor("{request_id}", request).size() == 32);
}

TEST_CASE("formats that cannot be", "[access_log]") {
  CHECK(errorOf("{nope}") == "there is no variable \"{nope}\"");
  CHECK(errorOf("{header.}") == "there is no variable \"{header.}\"");
  CHECK(errorOf("{}") == "there is no variable \"{}\"");
  CHECK(errorOf("{status").find("without its \"}\"") != std::string::npos);
  CHECK(errorOf("status}").find("without its \"{\"") != std::string::npos);
  std::string many;
  for (size_t i = 0; i <= kMostTexts; ++i) many += "{header.x" + std::to_string(i) + "}";
  CHECK(errorOf(many).find("different texts") != std::string::npos);
}

TEST_CASE("texts are cut at their own length, and together at a record's", "[access_log]") {
  const auto ask = [](size_t target, size_t field) {
    return "GET /" + std::string(target, 't') + " HTTP/1.1\r\nHost: h\r\nA: " + std::string(field, 'a') +
           "\r\nB: " + std::string(field, 'b') + "\r\n\r\n";
  };
  CHECK(lineFor("{target}", ask(2047, 1)) == "/" + std::string(2047, 't'));
  CHECK(lineFor("{target}", ask(2048, 1)) == "/" + std::string(2047, 't') + "...");
  CHECK(lineFor("{header.a}", ask(1, 512)) == std::string(512, 'a'));
  CHECK(lineFor("{header.a}", ask(1, 513)) == std::string(512, 'a') + "...");
  // path and target fill a record; what comes behind is cut short
  const std::string line = lineFor("{target} {path} {header.a}", ask(3000, 400));
  CHECK(line.size() < log::Stream::kMaxRecordBytes);
  CHECK(line.find(" ...") != std::string::npos);
}

TEST_CASE("no text can end a line or a string", "[access_log]") {
  CHECK(escaped("plain text that is longer than a block", Escape::kJson) ==
        "plain text that is longer than a block");
  CHECK(escaped("a\"b\\c\n\r\t\x01\x7f", Escape::kJson) == "a\\\"b\\\\c\\n\\r\\t\\u0001\\u007F");
  CHECK(escaped("0123456789abcde\"0123456789abcdef\"", Escape::kJson) ==
        "0123456789abcde\\\"0123456789abcdef\\\"");
  CHECK(escaped("gr\u00fc\u00df\u2028\u0085", Escape::kJson) == "gr\u00fc\u00df\\u2028\\u0085");
  CHECK(escaped("\xff\xc0\xaf\xe2\x82", Escape::kJson) == "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd");
  CHECK(escaped("a\"b\\c\n\xff\x7f", Escape::kHex) == "a\\x22b\\x5Cc\\x0A\\xFF\\x7F");
  CHECK(escaped("", Escape::kHex).empty());
}

TEST_CASE("statuses and lots decide what is logged", "[access_log]") {
  Selection all(1);
  CHECK_FALSE(all.needsLot());
  CHECK(all.wants(200, 0));
  CHECK(all.wants(999, 0));
  Selection none(0);
  none.set("5xx", Selection::Rule::kAlways);
  none.set("404", Selection::Rule::kAlways);
  CHECK_FALSE(none.wants(200, Selection::kLots - 1));
  CHECK(none.wants(503, 0));
  CHECK(none.wants(404, 0));
  CHECK_FALSE(none.wants(405, Selection::kLots - 1));
  Selection quarter(0.25);
  int chosen = 0;
  for (int i = 0; i < 40'000; ++i) {
    const std::string id = fmt::format("{:032x}", i);
    chosen += quarter.wants(200, Selection::lotOf(id)) ? 1 : 0;
  }
  CHECK(chosen > 9'500);
  CHECK(chosen < 10'500);
}

TEST_CASE("what is refused before a route is told to observers once, with what is known", "[access_log]") {
  const auto lines = std::make_shared<Lines>(LineFormat::json());
  test::H1Server server;
  server.on("/", [](http::Exchange& exchange) { exchange.replyError(404); }).observers.push_back(lines);
  server.fallback().observers.push_back(lines);
  server.start();
  server.ask("\x16\x03\x01 TLS\r\n\r\n");
  server.ask("BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n");
  server.ask("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  REQUIRE(lines->lines.size() == 3);
  CHECK(lines->lines[0].find("\"method\":null") != std::string::npos);
  CHECK(lines->lines[0].find("\"target\":\"\\u0016\\u0003\\u0001 TLS\"") != std::string::npos);
  CHECK(lines->lines[0].find("\"status\":400") != std::string::npos);
  CHECK(lines->lines[1].find("\"method\":\"BREW\"") != std::string::npos);
  CHECK(lines->lines[1].find("\"status\":501") != std::string::npos);
  CHECK(lines->lines[2].find("\"status\":404") != std::string::npos);
}

}  // namespace roost::modules::access_log
