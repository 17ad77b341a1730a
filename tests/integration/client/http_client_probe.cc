// links: roost_http
// Asks URLs by http::client::Client and prints a line of JSON for every answer, then one of the client's
// state:
//
//   http_client_probe [option=value]... URL...
//
// The URLs are asked one after the other, or all at once with parallel=1. Options, most as in Request,
// Timeouts and ClientOptions: method, host, field=Name: value (repeatable), body (text), stream (bytes
// streamed, 'a' to 'z' round and round), piece (bytes per send), length (announced), expect, close, upgrade,
// redirects, connect_ms, first_byte_ms, idle_ms, total_ms, per_origin, total, waiting, attempt_ms,
// idle_timeout_ms, expect_wait_ms, head_bytes; servers and hosts of the resolver; repeat (of every URL),
// gap_ms (between calls), pause_ms (after every piece of an answer), cancel_after (bytes of an answer),
// linger_ms (before the state is printed).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/client/client.h"
#include "net/resolver.h"

namespace {

using namespace roost;
using namespace roost::http;
using namespace roost::http::client;

struct Options {
  std::map<std::string, std::string> values;
  std::string fields;
  std::vector<std::string> urls;

  std::string text(const char* name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
  uint32_t number(const char* name, uint32_t fallback = 0) const {
    const auto found = values.find(name);
    return found == values.end() ? fallback
                                 : static_cast<uint32_t>(std::strtoul(found->second.c_str(), nullptr, 10));
  }
  bool has(const char* name) const { return values.count(name) != 0; }
};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class OnTime final : public event::Timer {
 public:
  explicit OnTime(event::Loop& loop) : loop_(loop) {}
  ~OnTime() { loop_.cancel(*this); }
  void in(uint32_t ms, std::function<void()> what) {
    what_ = std::move(what);
    loop_.armIn(*this, std::chrono::milliseconds(ms));
  }
  void onTimer() noexcept override { what_(); }

 private:
  event::Loop& loop_;
  std::function<void()> what_;
};

// Sends back what an upgraded connection brings, and closes when the peer does.
class Echo final : public ByteStreamListener {
 public:
  Echo(std::string& seen, std::function<void()> closed) : seen_(seen), closed_(std::move(closed)) {}
  ByteStream* stream = nullptr;
  size_t onBytes(char* bytes, size_t size) noexcept override {
    seen_.append(bytes, size);
    stream->write({bytes, size});
    return size;
  }
  void onEnd() noexcept override { stream->close(); }
  void onClose(AbortReason) noexcept override { closed_(); }

 private:
  std::string& seen_;
  std::function<void()> closed_;
};

// One URL asked, and what came of it.
class Ask final : public ResponseListener {
 public:
  Ask(Client& client, const Options& options, std::string url, std::function<void()> done)
      : client_(client),
        options_(options),
        url_(std::move(url)),
        done_(std::move(done)),
        timer_(client.loop()) {}

  void start() {
    const Result<Url> url = parseUrl(url_);
    if (!url.ok()) return finish(fmt::format(R"("error":"url","detail":{})", quoted(url.status().message())));
    const std::string method = options_.has("method") ? options_.text("method") : "GET";
    const std::string host = options_.text("host");
    const std::string upgrade = options_.text("upgrade");
    const std::string body = options_.text("body");
    Request request;
    request.method = method;
    request.target = url.value().target;
    request.host_field = host;
    request.fields = options_.fields;
    request.upgrade = upgrade;
    if (options_.has("body")) request.body = BufferRef::copyOf(body);
    to_stream_ = options_.number("stream");
    request.streams_body = options_.has("stream");
    if (options_.has("length")) request.content_length = options_.number("length");
    request.expects_continue = options_.number("expect") != 0;
    request.closes = options_.number("close") != 0;
    request.max_redirects = static_cast<uint8_t>(options_.number("redirects"));
    request.timeouts = {options_.number("connect_ms", 10'000), options_.number("first_byte_ms", 60'000),
                        options_.number("idle_ms", 60'000), options_.number("total_ms", 0)};
    call_ = &client_.start(url.value().origin, request, *this);
    if (request.streams_body && !request.expects_continue) stream();
  }

  void onInterim(Call&, const ReceivedHead& head) noexcept override {
    interims_ += fmt::format("{}{}", interims_.empty() ? "" : ",", head.status);
  }
  void onRedirect(Call&, const ReceivedHead& head, const Url& to) noexcept override {
    redirects_ += fmt::format("{}[{},{}]", redirects_.empty() ? "" : ",", head.status,
                              quoted(to.origin.key() + to.target));
  }
  void onHead(Call& call, const ReceivedHead& head, const h1::ResponseFraming&) noexcept override {
    head_ = fmt::format(R"("status":{},"reason":{},"kept":{},"retries":{},"fields":[)", head.status,
                        quoted(head.view(head.reason)), call.onKeptConnection(), int{call.retries()});
    for (size_t i = 0; i < head.field_count; ++i) {
      const Field& field = head.fields[i];
      head_ +=
          fmt::format("{}[{},{}]", i == 0 ? "" : ",", quoted(head.name(field)), quoted(head.value(field)));
    }
    head_ += "],";
    if (head.status == 101) {
      auto echo = std::make_unique<Echo>(body_, [this] { onEnd(); });
      Echo& listener = *echo;
      call_ = nullptr;
      listener.stream = &call.upgrade(std::move(echo), 1000);
      listener.stream->write("hello");
    }
  }
  void onBody(Call& call, std::string_view piece) noexcept override {
    for (const char c : piece) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;  // FNV-1a
    size_ += piece.size();
    if (body_.size() < 2000) body_ += piece.substr(0, 2000 - body_.size());
    if (options_.has("cancel_after") && size_ >= options_.number("cancel_after")) {
      call.cancel();
      call_ = nullptr;
      return finish(head_ + fmt::format(R"("error":"cancelled","size":{})", size_));
    }
    if (!options_.has("pause_ms")) return;
    call.pause();
    ++pauses_;
    timer_.in(options_.number("pause_ms"), [this, name = call.name()] {
      if (Call* const paused = client_.find(name)) paused->resume();
    });
  }
  void onWritable(Call&) noexcept override { stream(); }
  void onEnd() noexcept override {
    call_ = nullptr;
    finish(head_ + fmt::format(R"("size":{},"hash":"{:016x}","pauses":{},"body":{})", size_, hash_, pauses_,
                               quoted(body_)));
  }
  void onFailure(const ClientFailure& failure) noexcept override {
    call_ = nullptr;
    finish(head_ + fmt::format(R"("error":"{}","detail":{},"size":{})", clientErrorName(failure.error),
                               quoted(failure.toString()), size_));
  }

 private:
  void stream() {
    const uint32_t most = options_.number("piece", 65536);
    while (call_ != nullptr && !all_streamed_) {
      std::string piece(std::min(to_stream_, most), 'a');
      for (size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<char>('a' + (streamed_ + i) % 26);
      streamed_ += piece.size();
      to_stream_ -= static_cast<uint32_t>(piece.size());
      all_streamed_ = to_stream_ == 0;
      if (call_->send(piece, all_streamed_) != SendResult::kAccepted) return;
    }
  }
  void finish(const std::string& what) {
    std::printf("{\"url\":%s,\"interim\":[%s],\"redirects\":[%s],%s}\n", quoted(url_).c_str(),
                interims_.c_str(), redirects_.c_str(), what.c_str());
    std::fflush(stdout);
    done_();
  }

  Client& client_;
  const Options& options_;
  std::string url_;
  std::function<void()> done_;
  OnTime timer_;
  Call* call_ = nullptr;
  std::string head_, body_, interims_, redirects_;
  uint32_t to_stream_ = 0;
  uint64_t streamed_ = 0;
  bool all_streamed_ = false;
  uint64_t size_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325;
  uint64_t pauses_ = 0;
};

ClientOptions clientOptions(const Options& options) {
  ClientOptions out;
  out.max_per_origin = options.number("per_origin", out.max_per_origin);
  out.max_total = options.number("total", out.max_total);
  out.max_waiting = options.number("waiting", out.max_waiting);
  out.attempt_timeout_ms = options.number("attempt_ms", out.attempt_timeout_ms);
  out.connect_timeout_ms = options.number("attempt_ms", out.connect_timeout_ms);
  out.idle_timeout_ms = options.number("idle_timeout_ms", out.idle_timeout_ms);
  out.expect_wait_ms = options.number("expect_wait_ms", out.expect_wait_ms);
  out.head_limits.max_head_bytes = options.number("head_bytes", out.head_limits.max_head_bytes);
  return out;
}

class Probe {
 public:
  Probe(event::Loop& loop, Client& client, const Options& options)
      : loop_(loop), client_(client), options_(options), timer_(loop) {
    for (const std::string& url : options.urls) {
      for (uint32_t i = 0; i < options.number("repeat", 1); ++i) {
        asks_.push_back(std::make_unique<Ask>(client, options, url, [this] { oneDone(); }));
      }
    }
  }

  void run() {
    if (options_.number("parallel") != 0) {
      for (const auto& ask : asks_) ask->start();
      next_ = asks_.size();
    } else {
      asks_[next_++]->start();
    }
    loop_.run();
  }

 private:
  void oneDone() {
    if (++done_ == asks_.size()) {
      timer_.in(options_.number("linger_ms"), [this] { end(); });
    } else if (next_ < asks_.size()) {
      timer_.in(options_.number("gap_ms"), [this] { asks_[next_++]->start(); });
    }
  }
  void end() {
    const Client::Stats stats = client_.stats();
    std::printf("{\"connections\":%zu,\"idle\":%zu,\"waiting\":%zu,\"calls\":%zu}\n", stats.connections,
                stats.idle, stats.waiting, client_.calls());
    loop_.stop();
  }

  event::Loop& loop_;
  Client& client_;
  const Options& options_;
  OnTime timer_;
  std::vector<std::unique_ptr<Ask>> asks_;
  size_t next_ = 0;
  size_t done_ = 0;
};

int run(const Options& options) {
  const Result<std::unique_ptr<event::Loop>> loop = event::Loop::create(realSys(), 0);
  net::IoContext io(*loop.value());
  net::Resolver::Options names;
  names.servers = options.text("servers");
  if (options.has("hosts")) names.hosts_path = options.text("hosts");
  names.timeout_ms = options.number("dns_ms", names.timeout_ms);
  const Result<std::unique_ptr<net::Resolver>> resolver = net::Resolver::create(*loop.value(), names);
  if (!resolver.ok()) {
    std::fprintf(stderr, "%s\n", resolver.status().message().c_str());
    return 1;
  }
  Client client(io, *resolver.value(), clientOptions(options));
  Probe(*loop.value(), client, options).run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const bool is_url = argument.find(':') < equals;
    if (is_url || equals == std::string::npos) {
      options.urls.push_back(argument);
    } else if (argument.compare(0, equals, "field") == 0) {
      options.fields += argument.substr(equals + 1) + "\r\n";
    } else {
      options.values[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  if (options.urls.empty()) {
    std::fprintf(stderr, "usage: %s [option=value]... URL...\n", argv[0]);
    return 2;
  }
  return run(options);
}
