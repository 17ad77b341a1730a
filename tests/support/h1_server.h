#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/task_pool.h"
#include "http/exchange.h"
#include "http/h1/protocol.h"
#include "http/loop_context.h"
#include "http/service.h"
#include "support/sim_loop.h"

namespace roost::test {

// One answer as it stands on the wire.
struct ParsedAnswer {
  int status = 0;
  std::string head;  // status line and fields
  std::string body;  // decoded
  bool complete = false;
  bool has(std::string_view line) const { return head.find(line) != std::string::npos; }
};

// Takes the answers of a connection apart. `head_answers` says of each request in turn whether it was HEAD; a
// body without framing goes on to the end of `bytes`. `ok` is false where the bytes are not HTTP.
struct ParsedAnswers {
  std::vector<ParsedAnswer> answers;
  int interim = 0;  // 1xx other than 101
  bool ok = true;
  std::string rest;  // after 101, or what is not HTTP
};

inline ParsedAnswers parseAnswers(std::string_view bytes, const std::vector<bool>& head_answers = {}) {
  ParsedAnswers out;
  while (!bytes.empty()) {
    const size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) {
      ParsedAnswer begun;
      begun.head = std::string(bytes);
      out.ok = std::string_view("HTTP/1.1 ").substr(0, bytes.size()) == bytes.substr(0, 9);
      out.answers.push_back(begun);
      break;
    }
    ParsedAnswer answer;
    answer.head = std::string(bytes.substr(0, end + 4));
    if (answer.head.compare(0, 9, "HTTP/1.1 ") != 0 || answer.head[12] != ' ') {
      out.ok = false;
      out.rest = std::string(bytes);
      break;
    }
    answer.status = std::stoi(answer.head.substr(9, 3));
    bytes.remove_prefix(end + 4);
    if (answer.status == 101) {
      answer.complete = true;
      out.answers.push_back(answer);
      out.rest = std::string(bytes);
      break;
    }
    if (answer.status < 200) {
      ++out.interim;
      continue;
    }
    const bool to_head = out.answers.size() < head_answers.size() && head_answers[out.answers.size()];
    const size_t length = answer.head.find("\r\nContent-Length: ");
    if (to_head || answer.status == 204 || answer.status == 304) {
      answer.complete = true;
    } else if (length != std::string::npos) {
      const size_t size = std::stoull(answer.head.substr(length + 18));
      answer.body = std::string(bytes.substr(0, size));
      answer.complete = answer.body.size() == size;
      bytes.remove_prefix(answer.body.size());
    } else if (answer.has("\r\nTransfer-Encoding: chunked\r\n")) {
      while (!answer.complete) {
        const size_t eol = bytes.find("\r\n");
        if (eol == std::string_view::npos) break;
        const size_t size = std::stoull(std::string(bytes.substr(0, eol)), nullptr, 16);
        if (bytes.size() < eol + 2 + size + 2) break;
        answer.body += bytes.substr(eol + 2, size);
        if (bytes.substr(eol + 2 + size, 2) != "\r\n") out.ok = false;
        bytes.remove_prefix(eol + 2 + size + 2);
        answer.complete = size == 0;
      }
      if (!answer.complete) bytes = {};
    } else {
      answer.body = std::string(bytes);
      answer.complete = answer.has("\r\nConnection: close\r\n");
      bytes = {};
    }
    out.answers.push_back(answer);
  }
  return out;
}

// A handler from a callable.
template <class Fn>
class FnHandler final : public http::Handler {
 public:
  explicit FnHandler(Fn fn) : fn_(std::move(fn)) {}
  void handle(http::Exchange& exchange) const noexcept override { fn_(exchange); }

 private:
  Fn fn_;
};

// HTTP/1 on a simulated kernel: routes by path, one site.
class H1Server {
 public:
  H1Server() : site_(std::make_unique<http::Site>()), tasks_(0, 0) { site_->hosts = {"*"}; }
  ~H1Server() { shutDown(); }

  http::ServiceOptions options;

  template <class Fn>
  http::Route& on(std::string path, Fn fn) {
    auto route = std::make_unique<http::Route>();
    route->path = std::move(path);
    route->handler = std::make_unique<FnHandler<Fn>>(std::move(fn));
    site_->routes.push_back(std::move(route));
    return *site_->routes.back();
  }
  http::Route& fallback() { return site_->fallback; }  // before start()
  void start() {
    context_ = std::make_unique<http::LoopContext>(net.io(), tasks_);
    std::vector<std::unique_ptr<http::Site>> sites;
    sites.push_back(std::move(site_));
    context_->setService(
        std::make_shared<http::Service>(options, std::move(http::Router::build(std::move(sites))).value()));
    protocol_ = std::make_unique<http::h1::Protocol>(*context_);
    net.io().setFactory(0, *protocol_);
  }
  // Closes every connection and lets everything go, in the order the server does.
  void shutDown() {
    net.shutDown();
    protocol_.reset();
    context_.reset();
  }
  SimPeer connect() { return net.connect(0); }
  // Sends `request` on a connection of its own and answers everything that came back.
  std::string ask(std::string_view request) {
    SimPeer peer = connect();
    peer.write(request);
    net.settle();
    return peer.read();
  }
  bool settle() { return net.settle(); }
  http::LoopContext& context() { return *context_; }
  http::h1::Protocol& protocol() { return *protocol_; }

  SimLoop net;

 private:
  std::unique_ptr<http::Site> site_;
  event::TaskPool tasks_;
  std::unique_ptr<http::LoopContext> context_;
  std::unique_ptr<http::h1::Protocol> protocol_;
};

}  // namespace roost::test
