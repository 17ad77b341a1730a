#include "modules/compress/policy.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "modules/compress/encoder.h"
#include "support/h1_server.h"
#include "unit/modules/compress/decode.h"

namespace roost::modules::compress {
namespace {

using http::Coding;
using test::H1Server;
using test::ParsedAnswer;

Options optionsOf() {
  Options options;
  for (const Coding coding : http::kCodings) options.order.add(coding);
  options.types = {"text/*", "application/json", "*+xml"};
  options.min_bytes = 100;
  options.levels = {0, 5, 3, 6};
  return options;
}

std::string field(const ParsedAnswer& answer, const std::string& name) {
  const size_t at = answer.head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const size_t from = at + name.size() + 4;
  return answer.head.substr(from, answer.head.find("\r\n", from) - from);
}

// One route "/" that answers by a callable and is coded by a Policy.
struct Fixture {
  template <class Fn>
  explicit Fixture(Fn fn, const Options& options = optionsOf()) {
    server.on("/", fn).compression = std::make_shared<Policy>(options);
    server.start();
  }
  ParsedAnswer ask(const std::string& accept, const std::string& method = "GET") {
    const auto parsed = test::parseAnswers(
        server.ask(method + " / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: " + accept + "\r\n\r\n"),
        {method == "HEAD"});
    REQUIRE(parsed.answers.size() == 1);
    REQUIRE(parsed.ok);
    return parsed.answers.front();
  }
  H1Server server;
};

std::string textOf(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) text += "entry " + std::to_string(i * 7919) + "\n";
  text.resize(size);
  return text;
}

auto reply(http::ResponseHead head, std::string body) {
  return [head, body](http::Exchange& exchange) {
    http::ResponseHead mine = head;
    exchange.reply(mine, body);
  };
}

http::ResponseHead headOf(int status,
                          std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  http::ResponseHead head(status);
  for (const auto& [name, value] : fields) head.add(name, value);
  return head;
}

TEST_CASE("Policy: which types and sizes are worth coding") {
  const Policy policy(optionsOf());
  for (const std::string_view type :
       {"text/html", "TEXT/HTML", "text/plain; charset=utf-8", "application/json", "application/json ;x=y",
        "image/svg+xml", "application/atom+XML"}) {
    CAPTURE(type);
    CHECK(policy.applies(type, 100));
    CHECK(policy.applies(type, -1));
    CHECK_FALSE(policy.applies(type, 99));
  }
  for (const std::string_view type : {"", ";", "image/png", "text", "texts/html", "application/jsonx", "+xml",
                                      "text/event-stream", "Text/Event-Stream; charset=utf-8"}) {
    CAPTURE(type);
    CHECK_FALSE(policy.applies(type, 1000));
  }
  Options named = optionsOf();
  named.types.emplace_back("text/event-stream");
  CHECK(Policy(named).applies("text/event-stream", -1));
  CHECK(policy.tagSuffix(Coding::kBrotli) == "br5");
  CHECK(policy.tagSuffix(Coding::kZstd) == "zst3");
  CHECK(policy.tagSuffix(Coding::kGzip) == "gz6");
}

TEST_CASE("Policy: encode says no where the coded form is not shorter") {
  const Policy policy(optionsOf());
  for (const Coding coding : http::kCodings) {
    std::string out = "before";
    REQUIRE(policy.encode(coding, textOf(5000), out));
    CHECK(decode(coding, out.substr(6)) == textOf(5000));
    std::string none;
    CHECK_FALSE(policy.encode(coding, "x", none));
  }
}

TEST_CASE("Policy: an answer is coded, its tag weakened, its length and ranges taken away") {
  Fixture fixture(
      reply(headOf(200, {{"Content-Type", "text/plain"}, {"ETag", "\"a\""}, {"Accept-Ranges", "bytes"}}),
            textOf(3000)));
  for (const Coding coding : http::kCodings) {
    const std::string name(http::codingName(coding));
    const ParsedAnswer answer = fixture.ask(name);
    CHECK(answer.complete);
    CHECK(field(answer, "Content-Encoding") == name);
    CHECK(field(answer, "Vary") == "Accept-Encoding");
    CHECK(field(answer, "ETag") == "W/\"a\"");
    CHECK(field(answer, "Accept-Ranges").empty());
    CHECK(decode(coding, answer.body) == textOf(3000));
    const ParsedAnswer head = fixture.ask(name, "HEAD");
    CHECK(field(head, "Content-Encoding") == name);
    CHECK(field(head, "ETag") == "W/\"a\"");
    CHECK(field(head, "Content-Length").empty());
  }
  const ParsedAnswer plain = fixture.ask("identity");
  CHECK(plain.body == textOf(3000));
  CHECK(field(plain, "Vary") == "Accept-Encoding");
  CHECK(field(plain, "ETag") == "\"a\"");
}

TEST_CASE("Policy: answers that are left as they are") {
  struct Row {
    http::ResponseHead head;
    size_t size;
    bool varies;
  };
  const Row rows[] = {
      {headOf(200, {{"Content-Type", "image/png"}}), 3000, false},
      {headOf(200, {}), 3000, false},
      {headOf(200, {{"Content-Type", "text/plain"}}), 99, false},
      {headOf(200, {{"Content-Type", "text/plain"}, {"Content-Encoding", "deflate"}}), 3000, false},
      {headOf(200, {{"Content-Type", "text/plain"}, {"Cache-Control", "public, no-transform"}}), 3000, false},
      {headOf(206, {{"Content-Type", "text/plain"}, {"Content-Range", "bytes 0-2999/9999"}}), 3000, false},
      {headOf(206, {{"Content-Type", "multipart/byteranges; boundary=x"}}), 3000, false},
      {headOf(204, {{"Content-Type", "text/plain"}}), 0, false},
      {headOf(200, {{"Content-Type", "text/plain"}}), 0, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.head.status, std::string(row.head.lines()), row.size);
    Fixture fixture(reply(row.head, textOf(row.size)));
    const ParsedAnswer answer = fixture.ask("gzip");
    CHECK(answer.status == row.head.status);
    CHECK(answer.complete);
    CHECK(field(answer, "Content-Encoding") == std::string(row.head.get("Content-Encoding")));
    CHECK(field(answer, "Vary").empty() == !row.varies);
    CHECK(answer.body == textOf(row.size));
  }
}

TEST_CASE("Policy: a range that is not one of bytes does not keep content from being coded") {
  for (const int status : {200, 206}) {
    const http::ResponseHead head =
        headOf(status, {{"Content-Type", "text/plain"}, {"Content-Range", "0-24/3573"}});
    Fixture rows(reply(head, textOf(3000)));
    CHECK(gunzip(rows.ask("gzip").body) == textOf(3000));
  }
}

TEST_CASE("Policy: other statuses with content are coded, a 304 only says Vary") {
  Fixture gone(reply(headOf(410, {{"Content-Type", "text/html"}}), textOf(3000)));
  CHECK(gunzip(gone.ask("gzip").body) == textOf(3000));
  Fixture same([](http::Exchange& exchange) {
    http::ResponseHead head(304);
    head.add("ETag", "\"a\"");
    exchange.begin(head, true);
  });
  const ParsedAnswer answer = same.ask("gzip");
  CHECK(answer.status == 304);
  CHECK(field(answer, "ETag") == "W/\"a\"");
  CHECK(field(answer, "Vary") == "Accept-Encoding");
  CHECK(field(same.ask("identity"), "ETag") == "\"a\"");
}

TEST_CASE("Policy: more answers at a time than allowed are sent as they are") {
  Options options = optionsOf();
  options.max_streams = 0;
  Fixture fixture(reply(headOf(200, {{"Content-Type", "text/plain"}}), textOf(3000)), options);
  const ParsedAnswer answer = fixture.ask("gzip");
  CHECK(answer.body == textOf(3000));
  CHECK(field(answer, "Vary") == "Accept-Encoding");
}

// Sends `count` pieces, waiting where it is told to.
struct Sender final : http::ExchangeListener {
  Sender(http::Exchange& to, std::string bytes, int count, int& most)
      : exchange(to), piece(std::move(bytes)), left(count), blocked(most) {}
  void onWritable() noexcept override { step(); }
  void step() {
    while (left > 0) {
      const bool fin = --left == 0;
      const auto result = exchange.send(piece, fin);
      if (fin || result == http::SendResult::kClosed) return;
      if (result == http::SendResult::kBlocked) {
        ++blocked;
        return;
      }
    }
  }
  http::Exchange& exchange;
  const std::string piece;
  int left;
  int& blocked;
};

TEST_CASE("Stage: long answers in pieces, of known and unknown length") {
  for (const bool known : {true, false}) {
    for (const Coding coding : http::kCodings) {
      CAPTURE(known, http::codingName(coding));
      const std::string piece = textOf(30000);
      int blocked = 0;
      Fixture fixture([&](http::Exchange& exchange) {
        http::ResponseHead head(200);
        head.add("Content-Type", "text/plain");
        if (known) head.content_length = static_cast<int64_t>(piece.size()) * 40;
        exchange.begin(head, false);
        auto sender = std::make_unique<Sender>(exchange, piece, 40, blocked);
        Sender& borrowed = *sender;
        exchange.listen(std::move(sender));
        borrowed.step();
      });
      const ParsedAnswer answer = fixture.ask(std::string(http::codingName(coding)));
      CHECK(answer.complete);
      std::string wanted;
      for (int i = 0; i < 40; ++i) wanted += piece;
      CHECK(decode(coding, answer.body) == wanted);
    }
  }
}

TEST_CASE("Stage: what is sent bit by bit does not wait for the rest") {
  http::ExchangeHandle handle;
  Fixture fixture([&](http::Exchange& exchange) {
    http::ResponseHead head(200);
    head.add("Content-Type", "text/plain");
    exchange.begin(head, false);
    exchange.send("first", false);
    handle = exchange.handle();
  });
  test::SimPeer peer = fixture.server.connect();
  peer.write("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  fixture.server.settle();
  std::string bytes = peer.read();
  std::string chunks = bytes.substr(bytes.find("\r\n\r\n") + 4) + "0\r\n\r\n";
  const auto soFar = test::parseAnswers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
  CHECK(gunzip(soFar.answers.at(0).body) == "first");
  handle.post([](http::Exchange& exchange) { exchange.send(" and last", true); });
  fixture.server.settle();
  bytes += peer.read();
  CHECK(gunzip(test::parseAnswers(bytes).answers.at(0).body) == "first and last");
}

TEST_CASE("Stage: content that ends short of what was promised breaks the connection") {
  Fixture fixture([](http::Exchange& exchange) {
    http::ResponseHead head(200);
    head.add("Content-Type", "text/plain");
    head.content_length = 5000;
    exchange.begin(head, false);
    exchange.send(textOf(4000), true);
  });
  const std::string bytes = fixture.server.ask("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  for (const ParsedAnswer& answer : test::parseAnswers(bytes).answers) CHECK_FALSE(answer.complete);
}

TEST_CASE("Stage: content beyond what was promised is cut off") {
  Fixture fixture([](http::Exchange& exchange) {
    http::ResponseHead head(200);
    head.add("Content-Type", "text/plain");
    head.content_length = 4000;
    exchange.begin(head, false);
    exchange.send(textOf(3000), false);
    exchange.send(textOf(3000), true);
  });
  CHECK(gunzip(fixture.ask("gzip").body) == textOf(3000) + textOf(1000));
}

// Has more to send and gives up instead.
struct Quitter final : http::ExchangeListener {
  Quitter(http::Exchange& to, int& times) : exchange(to), told(times) {}
  void onWritable() noexcept override {
    ++told;
    exchange.abandon();
  }
  http::Exchange& exchange;
  int& told;
};

TEST_CASE("Stage: the sender gives up when it is told that there is room") {
  for (const int level : {5, 11}) {
    int told = 0;
    Options options = optionsOf();
    options.levels[static_cast<size_t>(Coding::kBrotli)] = level;
    Fixture fixture(
        [&](http::Exchange& exchange) {
          http::ResponseHead head(200);
          head.add("Content-Type", "text/plain");
          exchange.begin(head, false);
          exchange.listen(std::make_unique<Quitter>(exchange, told));
          CHECK(exchange.send(textOf(700'000), false) == http::SendResult::kBlocked);
        },
        options);
    const std::string bytes = fixture.server.ask("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br\r\n\r\n");
    for (const ParsedAnswer& answer : test::parseAnswers(bytes).answers) CHECK_FALSE(answer.complete);
    CHECK(told == 1);
  }
}

TEST_CASE("Stage: only cheap levels are coded on the loop, at once") {
  CHECK(isCheap(Coding::kGzip, 6));
  CHECK(isCheap(Coding::kBrotli, 5));
  CHECK(isCheap(Coding::kZstd, 6));
  for (const auto& [coding, level] :
       {std::pair(Coding::kGzip, 9), std::pair(Coding::kBrotli, 11), std::pair(Coding::kZstd, 19)}) {
    CHECK_FALSE(isCheap(coding, level));
    for (const bool cheap : {true, false}) {
      CAPTURE(http::codingName(coding), cheap);
      Options options = optionsOf();
      if (!cheap) options.levels[static_cast<size_t>(coding)] = level;
      bool done = false;
      Fixture fixture(
          [&](http::Exchange& exchange) {
            http::ResponseHead head(200);
            head.add("Content-Type", "text/plain");
            head.content_length = 3000;
            exchange.begin(head, false);
            exchange.send(textOf(3000), true);
            done = !exchange.active();
          },
          options);
      CHECK(decode(coding, fixture.ask(std::string(http::codingName(coding))).body) == textOf(3000));
      CHECK(done == cheap);
    }
  }
}

TEST_CASE("Stage: bit by bit at a level that is not cheap") {
  Options options = optionsOf();
  options.levels[static_cast<size_t>(Coding::kGzip)] = 9;
  http::ExchangeHandle handle;
  Fixture fixture(
      [&](http::Exchange& exchange) {
        http::ResponseHead head(200);
        head.add("Content-Type", "text/plain");
        exchange.begin(head, false);
        exchange.send("first", false);
        handle = exchange.handle();
      },
      options);
  test::SimPeer peer = fixture.server.connect();
  peer.write("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string wanted = "first";
  std::string chunks;
  for (int i = 0; i < 3; ++i) {
    fixture.server.settle();
    const std::string bytes = peer.read();
    chunks += i == 0 ? bytes.substr(bytes.find("\r\n\r\n") + 4) : bytes;
    CHECK(gunzip(test::parseAnswers(head + chunks + "0\r\n\r\n").answers.at(0).body) == wanted);
    handle.post([](http::Exchange& exchange) { exchange.send(" more", false); });
    wanted += " more";
  }
}

}  // namespace
}  // namespace roost::modules::compress
