#include <catch2/catch.hpp>

#include "unit/http/ws/socket_fixture.h"

namespace roost::http::ws {
namespace {

using namespace std::string_literals;

std::string closeFrame(const std::string& payload) {
  return makeFrame(Opcode::kClose, payload);
}
const std::string kNormalClose = "\x03\xe8";

TEST_CASE("websocket: the handshake is answered by the rules of RFC 6455 section 4.2", "[ws]") {
  struct Case {
    const char* name;
    std::string request;
    int status;
    const char* line;
  };
  const std::string good = SocketFixture::request();
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    text.replace(text.find(what), what.size(), instead);
    return text;
  };
  const std::vector<Case> cases = {
      {"as it should be", good, 101, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"},
      {"any case", with("Upgrade: websocket", "Upgrade: WebSocket"), 101, "\r\nConnection: Upgrade\r\n"},
      {"among others", with("Connection: Upgrade", "Connection: keep-alive, upgrade"), 101, "websocket"},
      {"no upgrade", "GET /ws HTTP/1.1\r\nHost: here\r\n\r\n", 426, "\r\nUpgrade: websocket\r\n"},
      {"another upgrade", with("Upgrade: websocket", "Upgrade: h2c"), 426, "\r\nUpgrade: websocket\r\n"},
      {"Connection without it", with("Connection: Upgrade", "Connection: keep-alive"), 426, "Upgrade"},
      {"version 8", with("Version: 13", "Version: 8"), 426, "\r\nSec-WebSocket-Version: 13\r\n"},
      {"no version", with("Sec-WebSocket-Version: 13\r\n", ""), 426, "\r\nSec-WebSocket-Version: 13\r\n"},
      {"two versions",
       with("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 13"), 426,
       "\r\nSec-WebSocket-Version: 13\r\n"},
      {"no key", with("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""), 400, ""},
      {"a short key", with("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZQ=="), 400, ""},
      {"two keys", with("Sec-WebSocket-Key:", "Sec-WebSocket-Key: x\r\nSec-WebSocket-Key:"), 400, ""},
      {"POST", with("GET", "POST"), 405, "\r\nAllow: GET\r\n"},
      {"HTTP/1.0", with("HTTP/1.1", "HTTP/1.0"), 426, ""},
      {"with content", with("Host: here", "Host: here\r\nContent-Length: 5"), 400, ""},
      {"the same origin", SocketFixture::request("Origin: http://here\r\n"), 101, ""},
      {"the same origin behind TLS", SocketFixture::request("Origin: https://HERE:443\r\n"), 101, ""},
      {"another origin", SocketFixture::request("Origin: http://there\r\n"), 403, ""},
      {"another port", SocketFixture::request("Origin: http://here:81\r\n"), 403, ""},
      {"no origin", SocketFixture::request("Origin: null\r\n"), 403, ""},
      {"two origins", SocketFixture::request("Origin: http://here\r\nOrigin: http://here\r\n"), 403, ""},
  };
  SocketFixture f;
  f.start();
  for (const Case& c : cases) {
    INFO(c.name);
    const auto got = test::parseAnswers(f.server.ask(c.request));
    REQUIRE(got.answers.size() == 1);
    CHECK(got.answers[0].status == c.status);
    CHECK(got.answers[0].has(c.line));
    CHECK(got.answers[0].has("Sec-WebSocket-Protocol") == false);
  }
}

TEST_CASE("websocket: origins and subprotocols of the configuration", "[ws]") {
  CHECK_FALSE(OriginPolicy::compile({"example.org"}).ok());
  CHECK_FALSE(OriginPolicy::compile({"https://example.org/"}).ok());
  CHECK_FALSE(OriginPolicy::compile({"https://"}).ok());
  EndpointOptions options;
  options.origins = OriginPolicy::compile({"https://pages.example", "null"}).value();
  options.subprotocols = {"one", "two"};
  SocketFixture f(options);
  f.start();
  const auto status = [&](const std::string& fields) {
    return test::parseAnswers(f.server.ask(SocketFixture::request(fields))).answers.at(0).status;
  };
  CHECK(status("Origin: https://pages.example\r\n") == 101);
  CHECK(status("Origin: null\r\n") == 101);
  CHECK(status("Origin: http://here\r\n") == 403);
  const auto protocol = [&](const std::string& fields) {
    const std::string head =
        test::parseAnswers(f.server.ask(SocketFixture::request(fields))).answers.at(0).head;
    const size_t at = head.find("Sec-WebSocket-Protocol: ");
    return at == std::string::npos ? "" : head.substr(at + 24, head.find('\r', at) - at - 24);
  };
  CHECK(protocol("Sec-WebSocket-Protocol: zero, two, one\r\n") == "two");
  CHECK(protocol("Sec-WebSocket-Protocol: zero\r\nSec-WebSocket-Protocol: one\r\n") == "one");
  CHECK(protocol("Sec-WebSocket-Protocol: ONE\r\n").empty());
}

TEST_CASE("websocket: messages go back as they came", "[ws]") {
  SocketFixture f;
  test::SimPeer peer = f.open();
  CHECK(f.ask(peer, makeFrame(Opcode::kText, "hello")) == "<1:hello>");
  CHECK(f.ask(peer, makeFrame(Opcode::kBinary, "")) == "<2:>");
  const std::string large(300000, 'x');
  CHECK(f.ask(peer, makeFrame(Opcode::kBinary, large)) == "<2:" + large + ">");
  // In pieces, with a ping between them that is answered before.
  CHECK(f.ask(peer, makeFrame(Opcode::kText, "a", false) + makeFrame(Opcode::kPing, "!") +
                        makeFrame(Opcode::kContinuation, "", false) +
                        makeFrame(Opcode::kContinuation, "b")) == "<10:!><1:ab>");
  // A byte at a time.
  const std::string frame = makeFrame(Opcode::kText, "sl\xc3\xb6w");
  std::string got;
  for (const char c : frame) got += f.ask(peer, {&c, 1});
  CHECK(got == "<1:sl\xc3\xb6w>");
  // Many that came together leave together.
  f.server.net.sys.resetCounts();
  std::string many, expected;
  for (int i = 0; i < 100; ++i) {
    many += makeFrame(Opcode::kText, std::to_string(i));
    expected += "<1:" + std::to_string(i) + ">";
  }
  CHECK(f.ask(peer, many) == expected);
  CHECK(f.server.net.sys.sendCalls() == 1);
  CHECK(f.ask(peer, makeFrame(Opcode::kPong, "unasked")) == "");
  CHECK(f.seen.log.find("pong:unasked") != std::string::npos);
  CHECK(f.seen.states == 1);
  CHECK(f.ask(peer, closeFrame(kNormalClose + "bye")) == "<8:" + kNormalClose + ">");
  CHECK(peer.sawEnd());
  CHECK(f.seen.log.find("close:1000:bye") != std::string::npos);
  peer.close();
  f.server.settle();
  CHECK(f.seen.states == 0);
  CHECK(f.server.net.io().size() == 0);
}

TEST_CASE("websocket: what breaks the rules is told why, and ends", "[ws]") {
  struct Case {
    const char* name;
    std::string bytes;
    std::string answer;  // of the last Close frame
  };
  const auto close = [](unsigned code, const std::string& text = {}) {
    return "<8:"s + static_cast<char>(code >> 8) + static_cast<char>(code & 255) + text + ">";
  };
  EndpointOptions options;
  options.max_message_bytes = options.max_frame_bytes = 1000;
  const std::vector<Case> cases = {
      {"invalid text", makeFrame(Opcode::kText, "a\xff"), close(1007, "text is not UTF-8")},
      {"cut text", makeFrame(Opcode::kText, "\xe2\x82"), close(1007, "text is not UTF-8")},
      {"text that goes wrong early", makeFrame(Opcode::kText, "\xed\xa0", false),
       close(1007, "text is not UTF-8")},
      {"a character over two frames that is cut",
       makeFrame(Opcode::kText, "\xe2", false) + makeFrame(Opcode::kContinuation, "\x82"),
       close(1007, "text is not UTF-8")},
      {"too big", makeFrame(Opcode::kBinary, std::string(1001, 'x')), close(1009, "frame too big")},
      {"too big together",
       makeFrame(Opcode::kBinary, std::string(600, 'x'), false) +
           makeFrame(Opcode::kContinuation, std::string(600, 'x')),
       close(1009, "message too big")},
      {"not masked", makeFrame(Opcode::kText, "hi", true, false, false), close(1002, "frame is not masked")},
      {"RSV1", makeFrame(Opcode::kText, "hi", true, true), close(1002, "reserved bit set")},
      {"close of one byte", closeFrame("\x03"), close(1002, "malformed Close")},
      {"close with a bad code", closeFrame("\x03\xec"), close(1002, "malformed Close")},
      {"close with a bad reason", closeFrame(kNormalClose + "\xff"), close(1007, "malformed Close")},
      {"close without a code", closeFrame(""), "<8:>"},
      {"close with a code of its own", closeFrame("\x0f\xa1"), close(4001)},
      {"nothing counts after it", closeFrame(kNormalClose) + makeFrame(Opcode::kText, "x"), close(1000)},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    SocketFixture f(options);
    test::SimPeer peer = f.open();
    CHECK(f.ask(peer, c.bytes) == c.answer);
    CHECK(peer.sawEnd());
    CHECK(f.seen.log.find("close:") != std::string::npos);
    CHECK(f.seen.log.find("too late!") == std::string::npos);
    CHECK(f.seen.log.find("text:x") == std::string::npos);
    peer.close();
    f.server.settle();
    CHECK(f.server.net.io().size() == 0);
  }
}

TEST_CASE("websocket: the server closes", "[ws]") {
  EndpointOptions options;
  options.close_timeout_ms = 2000;
  SocketFixture f(options);
  test::SimPeer peer = f.open();
  const std::string mine =
      "<8:\x0f\xa0"
      "as you say>";
  SECTION("and the peer answers") {
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "close")) == mine);
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "crossing")) == "");
    CHECK_FALSE(peer.sawEnd());
    CHECK(f.ask(peer, closeFrame("\x0f\xa0")) == "");
    CHECK(peer.sawEnd());
    CHECK(f.seen.log == "open text:close close:4000:");
    peer.close();
  }
  SECTION("and the peer says nothing") {
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "close")) == mine);
    REQUIRE(f.server.net.pass(3000));
    CHECK(peer.gone());
    CHECK(f.seen.log == "open text:close close:1006:");
  }
  SECTION("at once") {
    f.ask(peer, makeFrame(Opcode::kText, "abort") + makeFrame(Opcode::kText, "more"));
    CHECK(peer.gone());
    CHECK(f.seen.log == "open text:abort close:1006:");
  }
  SECTION("because it ends") {
    f.server.net.io().forEach([](net::Connection& c) { c.session()->onShutdown(c, 0); });
    f.server.settle();
    CHECK(readFrames(peer.read()) == "<8:\x03\xe9>");
    f.server.net.io().forEach([](net::Connection& c) { CHECK(c.session()->owesAnswer()); });
    f.ask(peer, closeFrame("\x03\xe9"));
    CHECK(peer.sawEnd());
    peer.close();
  }
  SECTION("because the peer's side ends without a word") {
    peer.shutdownWrite();
    f.server.settle();
    CHECK(peer.sawEnd());
    CHECK(f.seen.log == "open close:1006:");
  }
  f.server.settle();
  CHECK(f.server.net.io().size() == 0);
  CHECK(f.seen.states == 0);
}

TEST_CASE("websocket: silent peers are pinged, and cut off when nothing comes", "[ws]") {
  EndpointOptions options;
  options.ping_interval_ms = 10000;
  options.pong_timeout_ms = 5000;
  SocketFixture f(options);
  test::SimPeer peer = f.open();
  SECTION("one that answers stays") {
    for (int i = 0; i < 3; ++i) {
      REQUIRE(f.server.net.pass(10500));
      CHECK(readFrames(peer.read()) == "<9:>");
      CHECK(f.ask(peer, makeFrame(Opcode::kPong, "")) == "");
    }
    REQUIRE(f.server.net.pass(9000));
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "busy")) == "<1:busy>");
    REQUIRE(f.server.net.pass(9000));  // a message counts as a sign of life
    CHECK(peer.read().empty());
  }
  SECTION("one that does not goes") {
    REQUIRE(f.server.net.pass(10500));
    CHECK(readFrames(peer.read()) == "<9:>");
    REQUIRE(f.server.net.pass(5500));
    CHECK(peer.gone());
    CHECK(f.seen.log == "open close:1006:");
  }
}

TEST_CASE("websocket: a connection without messages may be closed", "[ws]") {
  EndpointOptions options;
  options.ping_interval_ms = 4000;
  options.pong_timeout_ms = 3000;
  options.idle_timeout_ms = 10000;
  SocketFixture f(options);
  test::SimPeer peer = f.open();
  std::string got;
  for (int i = 0; i < 9; ++i) {
    REQUIRE(f.server.net.pass(1000));
    got += f.ask(peer, makeFrame(Opcode::kPong, ""));
  }
  CHECK(got == "");
  CHECK(f.ask(peer, makeFrame(Opcode::kText, "x")) == "<1:x>");
  for (int i = 0; i < 9; ++i) {
    REQUIRE(f.server.net.pass(1000));
    got += f.ask(peer, makeFrame(Opcode::kPong, ""));
  }
  CHECK(got == "");
  REQUIRE(f.server.net.pass(2000));
  CHECK(readFrames(peer.read()) ==
        "<8:\x03\xe8"
        "idle>");
}

TEST_CASE("websocket: sending of every kind", "[ws]") {
  SocketFixture f;
  test::SimPeer peer = f.open();
  Socket& socket = *f.seen.socket;
  CHECK(socket.send(Opcode::kText, "text") == SendResult::kAccepted);
  CHECK(socket.send(Opcode::kBinary, BufferRef::copyOf("small")) == SendResult::kAccepted);
  CHECK(socket.send(Opcode::kBinary, BufferRef::copyOf(std::string(5000, 'l'))) == SendResult::kAccepted);
  CHECK(socket.sendFrames(BufferRef::copyOf(makeFrame(Opcode::kText, "made", true, false, false))) ==
        SendResult::kAccepted);
  CHECK(socket.ping("are you there") == SendResult::kAccepted);
  f.server.settle();
  CHECK(readFrames(peer.read()) ==
        "<1:text><2:small><2:" + std::string(5000, 'l') + "><1:made><9:are you there>");
  socket.close(kNormal, "done");
  CHECK(socket.send(Opcode::kText, "late") == SendResult::kClosed);
  f.server.settle();
  CHECK(readFrames(peer.read()) ==
        "<8:\x03\xe8"
        "done>");
}

// Counts what is told of the ends of exchanges.
struct Ends {
  std::vector<Outcome> outcomes;
  int attachments = 0;
};

class EndObserver final : public ExchangeObserver {
 public:
  struct Parked final : ParkedObserver {
    explicit Parked(Ends& ends) : told(ends) {}
    void onEnd(const Outcome& outcome) noexcept override { told.outcomes.push_back(outcome); }
    Ends& told;
  };
  struct Kept final : Attachment {
    explicit Kept(Ends& ends) : counted(ends) { ++counted.attachments; }
    ~Kept() override { --counted.attachments; }
    Ends& counted;
  };
  explicit EndObserver(Ends& ends) : ends_(ends) {}
  void onEnd(const Exchange&, const Outcome& outcome) const noexcept override {
    ends_.outcomes.push_back(outcome);
  }
  std::unique_ptr<ParkedObserver> onPark(const Exchange&) const noexcept override {
    return std::make_unique<Parked>(ends_);
  }

 private:
  Ends& ends_;
};

class AttachingFilter final : public RequestFilter {
 public:
  explicit AttachingFilter(Ends& ends) : ends_(ends) {}
  Verdict onRequest(Exchange& exchange) const noexcept override {
    exchange.attach(std::make_unique<EndObserver::Kept>(ends_));
    return Verdict::kContinue;
  }

 private:
  Ends& ends_;
};

TEST_CASE("websocket: logs and limits of its route hear of its end", "[ws]") {
  Ends ends;
  SocketFixture f;
  const EndObserver* observer = new EndObserver(ends);
  f.route->observers.push_back(std::unique_ptr<const ExchangeObserver>(observer));
  f.route->request_filters.push_back(std::make_unique<AttachingFilter>(ends));
  test::SimPeer peer = f.open();
  CHECK(f.ask(peer, makeFrame(Opcode::kText, "hello")) == "<1:hello>");
  CHECK(ends.outcomes.empty());
  CHECK(ends.attachments == 1);
  SECTION("closed by the rules") {
    f.ask(peer, makeFrame(Opcode::kClose, kNormalClose));
    REQUIRE(ends.outcomes.size() == 1);
    CHECK_FALSE(ends.outcomes[0].aborted);
    CHECK(ends.outcomes[0].content_bytes == 7 + 4);  // both frames
  }
  SECTION("cut off") {
    peer.reset();
    f.server.settle();
    REQUIRE(ends.outcomes.size() == 1);
    CHECK(ends.outcomes[0].aborted);
    CHECK(ends.outcomes[0].reason == AbortReason::kReset);
    CHECK(ends.outcomes[0].content_bytes == 7);
  }
  CHECK(ends.outcomes[0].status == 101);
  CHECK(ends.attachments == 0);
  peer.close();
  f.server.settle();
}

}  // namespace
}  // namespace roost::http::ws
