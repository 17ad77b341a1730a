#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "http/handler.h"
#include "http/loop_context.h"
#include "http/message.h"
#include "http/prepared_response.h"
#include "http/response_head.h"
#include "http/router.h"
#include "http/stream_port.h"
#include "net/address.h"
#include "net/open_file.h"

namespace roost::http {

class ExchangeHandle;

// One request and its answer, the same over every version of HTTP. Handlers see nothing below it. It is part
// of the protocol's session or stream, valid from Handler::handle until the answer is complete or onAbort has
// been called, and used on its loop's thread only; everybody else holds an ExchangeHandle.
//
// An answer is one reply(), or begin() and then send() or sendFile() until one of them says `fin`. It has one
// head: REQUIRES of reply(), replyError() and begin(): !headSent(); otherwise they do nothing.
class Exchange {
 public:
  Exchange() noexcept = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The request. REQUIRES: not parked.
  const RequestHead& request() const noexcept { return *head_; }
  // The target's path, percent-decoded once, without dot segments and repeated slashes (decodePath).
  std::string_view path() const noexcept { return path_; }
  std::string_view host() const noexcept { return host_; }  // without port, as sent
  const Route& route() const noexcept { return *route_; }
  const Service& service() const noexcept { return *pin_->service; }
  bool isHead() const noexcept { return head_request_; }
  bool hasBody() const noexcept { return has_body_; }

  LoopContext& context() const noexcept { return *context_; }
  const net::PeerAddr& peer() const noexcept { return port_->peer(); }

  // Leaves `listener` to hear of the body, of writability and of an abort. A request's body waits
  // until somebody listens or the exchange is answered (then it is read away); while it waits nothing more
  // than a bounded part of it is read. onBody is never called from within listen() or consumed().
  void listen(std::unique_ptr<ExchangeListener> listener) noexcept;
  // `bytes` of the body have been dealt with; as many more may come.
  void consumed(size_t bytes) noexcept {
    if (open()) port_->consumed(bytes);
  }

  // Answers in pieces. Content-Length comes from head.content_length; content beyond it is cut off, and a
  // connection whose content ends short of it is closed.
  void begin(ResponseHead& head, bool fin) noexcept;
  // kClosed once the exchange is over.
  SendResult send(std::string_view copied, bool fin) noexcept {
    return open() ? port_->sendBytes(copied, fin) : SendResult::kClosed;
  }
  SendResult send(BufferRef buffer, bool fin) noexcept {
    const size_t size = buffer.size();
    if (!open()) return SendResult::kClosed;
    return port_->sendShared(std::move(buffer), 0, size, fin);
  }
  SendResult send(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept {
    return open() ? port_->sendShared(std::move(buffer), offset, size, fin) : SendResult::kClosed;
  }
  SendResult sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept {
    return open() ? port_->sendFile(std::move(file), offset, size, fin) : SendResult::kClosed;
  }
  // Whole answers.
  void reply(ResponseHead& head, std::string_view body) noexcept;
  void reply(PreparedResponse& response) noexcept;  // REQUIRES: mayReplyPrepared()
  bool mayReplyPrepared() const noexcept { return !parked() && route_->response_filters.empty(); }
  // The service's own page for a status; `extra` holds further fields (Allow, Retry-After) or is nullptr.
  void replyError(int status, const ResponseHead* extra = nullptr) noexcept;
  // Gives up an answer that has begun and cannot be completed: the peer sees that it is cut off.
  void abandon() noexcept {
    if (open()) port_->reset();
  }
  // Answers 101 (RFC 9110 section 7.8) and turns the connection into bytes. nullptr where that cannot be, and
  // then another answer may be given: the request has a body that has not ended, came in HTTP/1.0, or has no
  // Upgrade field that its Connection lists.
  ByteStream* upgrade(ResponseHead& head, std::unique_ptr<ByteStreamListener> listener) noexcept;

  // For long waits: frees the request's head and lets go of the Service; request(), path(), route() are gone,
  // response filters do not run any more. A peer that ends its side aborts a parked exchange.
  void park() noexcept;
  bool parked() const noexcept { return head_ == nullptr; }

  // A name that any thread may hold and answer by.
  ExchangeHandle handle();

  // After a filter said kPaused: kContinue goes on behind that filter, kReplied says that it has answered.
  // Nothing where none has paused.
  void resume(Verdict verdict) noexcept;

  // For protocols: the life of an exchange.
  void start(LoopContext& context, StreamPort& port, const RequestHead& head, std::string_view host,
             std::string_view path, const Route& route, ServicePin& pin, bool has_body) noexcept;
  void runRoute() noexcept;  // filters, then the handler
  ExchangeListener* listener() const noexcept { return listener_.get(); }
  bool active() const noexcept { return context_ != nullptr; }
  bool headSent() const noexcept { return head_sent_; }
  // The head's text lies elsewhere now.
  void movedHead(std::string_view host, std::string_view path) noexcept;
  void end() noexcept;                      // answered: forget everything
  void abort(AbortReason reason) noexcept;  // tells the listener, then end()

 private:
  bool open() const noexcept { return context_ != nullptr && !aborted_; }
  bool mayBegin() const noexcept;
  void filterHead(ResponseHead& head) noexcept;
  void releaseService() noexcept;

  LoopContext* context_ = nullptr;
  StreamPort* port_ = nullptr;
  const RequestHead* head_ = nullptr;
  const Route* route_ = nullptr;
  ServicePin* pin_ = nullptr;
  std::unique_ptr<ExchangeListener> listener_;
  std::string_view host_;
  std::string_view path_;
  ExchangeTable::Name name_;
  uint16_t next_filter_ = 0;
  bool head_request_ = false;
  bool has_body_ = false;
  bool head_sent_ = false;
  bool aborted_ = false;
  bool paused_ = false;  // by a filter
};

// An exchange's name for other threads and later times. Freely copied. Once the exchange is over, what is
// done by the name is not done and harms nobody. The loop it names must not have been destroyed.
class ExchangeHandle {
 public:
  ExchangeHandle() noexcept = default;

  // Any thread: runs fn(Exchange&) on the exchange's loop, if the exchange is not over by then. fn must not
  // throw.
  template <class Fn>
  void post(Fn&& fn) const {
    LoopContext* context = context_;
    if (context == nullptr) return;  // names nothing
    context->loop().post(event::makeTask([context, name = name_, call = std::forward<Fn>(fn)]() mutable {
      if (Exchange* exchange = context->exchanges().find(name)) call(*exchange);
    }));
  }
  // Any thread: answers, if the exchange is not over by then.
  void reply(std::unique_ptr<ResponseHead> head, BufferRef body) const;

 private:
  friend class Exchange;
  ExchangeHandle(LoopContext& context, ExchangeTable::Name name) noexcept : context_(&context), name_(name) {}
  LoopContext* context_ = nullptr;
  ExchangeTable::Name name_{};
};

}  // namespace roost::http
