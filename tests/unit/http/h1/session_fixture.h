#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "support/h1_server.h"
#include "support/temp_file.h"

namespace roost::http {

// What became of the exchanges of a test.
struct Fate {
  int handled = 0;
  int finished = 0;
  int aborted = 0;
  AbortReason reason{};
};

// Takes a body in and sends it back, both ways no faster than the client takes it.
struct EchoListener final : ExchangeListener {
  EchoListener(Exchange& to, Fate& what_became) : exchange(to), fate(what_became) {}
  void onBody(std::string_view piece, bool fin) noexcept override {
    pending.append(piece);
    ended = fin;
    pump();
  }
  void onWritable() noexcept override {
    blocked = false;
    pump();
  }
  void onAbort(AbortReason reason) noexcept override {
    ++fate.aborted;
    fate.reason = reason;
  }
  void pump() {
    if (blocked || (pending.empty() && !ended)) return;
    const std::string bytes = std::exchange(pending, {});
    const bool fin = ended;
    if (fin) ++fate.finished;
    const SendResult result = exchange.send(bytes, fin);
    if (fin || result == SendResult::kClosed) return;
    blocked = result == SendResult::kBlocked;
    exchange.consumed(bytes.size());
  }
  Exchange& exchange;
  Fate& fate;
  std::string pending;
  bool ended = false;
  bool blocked = false;
};

// Collects a body and answers with its size and content once it is whole.
struct CollectListener final : ExchangeListener {
  CollectListener(Exchange& to, Fate& what_became) : exchange(to), fate(what_became) {}
  void onBody(std::string_view piece, bool fin) noexcept override {
    body.append(piece);
    exchange.consumed(piece.size());
    if (!fin) return;
    ++fate.finished;
    ResponseHead head(200);
    exchange.reply(head, body);
  }
  void onAbort(AbortReason reason) noexcept override {
    ++fate.aborted;
    fate.reason = reason;
  }
  Exchange& exchange;
  Fate& fate;
  std::string body;
};

// Only listens.
struct WaitListener final : ExchangeListener {
  explicit WaitListener(Fate& what_became) : fate(what_became) {}
  void onAbort(AbortReason reason) noexcept override {
    ++fate.aborted;
    fate.reason = reason;
  }
  Fate& fate;
};

// Sends `pieces` pieces of `size` bytes, chunked.
struct StreamListener final : ExchangeListener {
  StreamListener(Exchange& to, Fate& what_became, int count, size_t bytes)
      : exchange(to), fate(what_became), left(count), size(bytes) {}
  void onWritable() noexcept override { pump(); }
  void onAbort(AbortReason reason) noexcept override {
    ++fate.aborted;
    fate.reason = reason;
  }
  void pump() {
    while (left > 0) {
      --left;
      if (left == 0) ++fate.finished;
      const SendResult result = exchange.send(std::string(size, 's'), left == 0);
      if (result != SendResult::kAccepted) return;
    }
  }
  Exchange& exchange;
  Fate& fate;
  int left;
  size_t size;
};

struct ByteEcho final : ByteStreamListener {
  explicit ByteEcho(Fate& what_became) : fate(what_became) {}
  size_t onBytes(char* data, size_t size) noexcept override {
    const std::string_view bytes(data, size);
    if (stream == nullptr) {
      ++early;
      return 0;
    }
    if (bytes == "bye") {
      stream->write("closing");
      stream->close();
      return bytes.size();
    }
    stream->write(bytes);
    return bytes.size();
  }
  void onEnd() noexcept override {
    ++ends;
    stream->close();
  }
  void onClose(AbortReason) noexcept override { ++fate.finished; }
  Fate& fate;
  ByteStream* stream = nullptr;
  int ends = 0;
  int early = 0;
};

// A server with a handler of every kind:
//   /hello  a small answer at once         /prepared  the same from a ready-made block
//   /later  waits for answerLater()        /park      likewise, parked
//   /echo   the body, streamed             /collect   the body, whole
//   /stream 200 pieces of 10,000 bytes     /ignore    answers without looking at the body
//   /file   the file set by file_bytes     /upgrade   an echo of bytes
//   /pause  a filter stops it until resumeLater(), then as /collect
struct SessionFixture {
  SessionFixture() {
    server.on("/hello", [this](Exchange& e) { hello(e); });
    server.on("/prepared", [this](Exchange& e) {
      ++fate.handled;
      if (!prepared) {
        ResponseHead head(200);
        prepared = PreparedResponse(head, prepared_body, "roost");
      }
      ++fate.finished;
      e.reply(prepared);
    });
    server.on("/later", [this](Exchange& e) { wait(e); });
    server.on("/park", [this](Exchange& e) {
      wait(e);
      e.park();
    });
    server.on("/echo", [this](Exchange& e) {
      ++fate.handled;
      if (!e.hasBody()) return e.replyError(400);
      ResponseHead head(200);
      e.begin(head, false);
      e.listen(std::make_unique<EchoListener>(e, fate));
    });
    server.on("/collect", [this](Exchange& e) { collect(e); });
    server.on("/stream", [this](Exchange& e) {
      ++fate.handled;
      ResponseHead head(200);
      e.begin(head, false);
      auto listener = std::make_unique<StreamListener>(e, fate, 200, 10000);
      StreamListener& mine = *listener;
      e.listen(std::move(listener));
      mine.pump();
    });
    server.on("/ignore", [this](Exchange& e) { hello(e); });
    server.on("/file", [this](Exchange& e) {
      ++fate.handled;
      ResponseHead head(200);
      head.content_length = static_cast<int64_t>(file_bytes.size());
      e.begin(head, false);
      ++fate.finished;
      e.sendFile(net::OpenFile(server.net.sys, test::tempFile(file_bytes)), 0, file_bytes.size(), true);
    });
    server.on("/upgrade", [this](Exchange& e) {
      ++fate.handled;
      ResponseHead head(101);
      head.add("Upgrade", "echo");
      auto listener = std::make_unique<ByteEcho>(fate);
      ByteEcho& mine = *listener;
      ByteStream* stream = e.upgrade(head, std::move(listener));
      if (stream == nullptr) return e.replyError(426);  // the listener is gone
      mine.stream = stream;
      bytes = &mine;
    });
    struct Pause final : RequestFilter {
      explicit Pause(SessionFixture& in) : fixture(in) {}
      Verdict onRequest(Exchange& e) const noexcept override {
        fixture.handle = e.handle();
        return Verdict::kPaused;
      }
      SessionFixture& fixture;
    };
    server.on("/pause", [this](Exchange& e) { collect(e); })
        .request_filters.push_back(std::make_unique<Pause>(*this));
  }

  void hello(Exchange& e) {
    ++fate.handled;
    ++fate.finished;
    ResponseHead head(200);
    head.add("X-Path", e.path());
    e.reply(head, "hello");
  }
  void wait(Exchange& e) {
    ++fate.handled;
    e.listen(std::make_unique<WaitListener>(fate));
    handle = e.handle();
  }
  void collect(Exchange& e) {
    ++fate.handled;
    if (!e.hasBody()) {
      ++fate.finished;
      ResponseHead head(200);
      return e.reply(head, "no body");
    }
    e.listen(std::make_unique<CollectListener>(e, fate));
  }
  void answerLater(std::string_view body = "late") {
    ++fate.finished;
    handle.reply(std::make_unique<ResponseHead>(200), BufferRef::copyOf(body));
  }
  void resumeLater() {
    handle.post([](Exchange& e) { e.resume(Verdict::kContinue); });
  }
  std::string ask(std::string_view request) { return server.ask(request); }
  test::ParsedAnswers answersTo(std::string_view request) { return test::parseAnswers(ask(request)); }

  Fate fate;
  ExchangeHandle handle;
  PreparedResponse prepared;
  std::string prepared_body = "prepared";
  std::string file_bytes;
  ByteEcho* bytes = nullptr;
  test::H1Server server;
};

inline std::string get(std::string_view path, std::string_view more = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) + "\r\n";
}
inline std::string post(std::string_view path, std::string_view body, std::string_view more = "") {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more) + "\r\n" + std::string(body);
}
inline std::string postChunked(std::string_view path, std::string_view body, size_t piece = 7) {
  std::string out =
      "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  while (!body.empty()) {
    const std::string_view part = body.substr(0, piece);
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    out += size;
    out += part;
    out += "\r\n";
    body.remove_prefix(part.size());
  }
  return out + "0\r\n\r\n";
}

}  // namespace roost::http
