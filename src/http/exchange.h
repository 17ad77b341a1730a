#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "http/body_stage.h"
#include "http/handler.h"
#include "http/loop_context.h"
#include "http/message.h"
#include "http/prepared_response.h"
#include "http/request_state.h"
#include "http/response_head.h"
#include "http/router.h"
#include "http/stream_port.h"
#include "http/trace.h"
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
  Exchange() noexcept
      : left_(nullptr),
        error_status_(0),
        page_status_(0),
        head_request_(false),
        has_body_(false),
        head_sent_(false),
        aborted_(false),
        paused_(false),
        parked_(true),
        ends_with_peer_(false) {}
  ~Exchange() {
    if (parked_) delete left_;
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The request as it was sent. REQUIRES: not parked.
  const RequestHead& request() const noexcept { return *state_->head; }
  // The path to answer: the target's, percent-decoded once, without dot segments and repeated slashes
  // (decodePath), or what a rewrite has made of it.
  std::string_view path() const noexcept { return state_->path; }
  // What follows '?', without it, or what a rewrite has made of it. REQUIRES: not parked.
  std::string_view query() const noexcept {
    return state_->has_new_query ? std::string_view(state_->new_query)
                                 : state_->head->view(state_->head->query);
  }
  // The method to answer: the request's, or GET where a page for an error is wanted.
  Method method() const noexcept {
    return error_status_ != 0 && !head_request_ ? Method::kGet : state_->head->method;
  }
  // What the parts in braces of the route's path stood for; empty where the route has no such part.
  // REQUIRES, here and below to requestId(): not parked.
  std::string_view param(std::string_view name) const noexcept;
  const RouteParams& params() const noexcept { return state_->params; }
  std::string_view host() const noexcept { return state_->host; }  // without port, as sent
  const Route& route() const noexcept { return *state_->route; }
  const Service& service() const noexcept { return *state_->pin->service; }
  bool isHead() const noexcept { return head_request_; }
  bool hasBody() const noexcept { return has_body_; }

  LoopContext& context() const noexcept { return *context_; }
  // The other end of the connection.
  const net::PeerAddr& peer() const noexcept { return port_->peer(); }
  // Who asked: the peer, or whom a trusted proxy names.
  const net::PeerAddr& client() const noexcept { return state_->has_client ? state_->client : port_->peer(); }
  void setClient(const net::PeerAddr& client) noexcept {
    state_->client = client;
    state_->has_client = true;
  }

  // Whom the client has proved to be (basic_auth); empty: nobody.
  std::string_view user() const noexcept { return state_->user; }
  void setUser(std::string_view user) { state_->user.assign(user); }

  // How the client reached us, as far as is known: "http", or what a trusted proxy says.
  std::string_view scheme() const noexcept { return state_->https ? "https" : "http"; }
  void setHttps(bool https) noexcept { state_->https = https; }
  // How long another server took to answer in our place, added up over all that were asked.
  void addUpstreamTime(int64_t ns) noexcept {
    if (Progress* kept = progress()) kept->upstream_ns = (kept->upstream_ns < 0 ? 0 : kept->upstream_ns) + ns;
  }
  // 32 hexadecimal digits that no other request of this process has, nor (by chance) any of another; or what
  // a trusted proxy has named it (isRequestId).
  std::string_view requestId() const noexcept {
    if (state_->request_id_field != RequestHead::kNoField) {
      return state_->head->value(state_->head->fields[state_->request_id_field]);
    }
    if (!state_->has_request_id) makeRequestId();
    return {state_->request_id.data(), state_->request_id.size()};
  }

  // REQUIRES: one of request()'s.
  void setRequestId(const Field& field) noexcept {
    state_->request_id_field = static_cast<uint8_t>(&field - state_->head->fields.data());
  }

  // Starts over with another path of the same site (canonical; the query only where one is given), from the
  // first filter of its route. False when that has happened kMaxReroutes times: then 500 has been answered.
  // A filter that calls this returns kReplied. REQUIRES: !headSent(), and nobody listens yet.
  static constexpr uint8_t kMaxReroutes = 10;
  bool reroute(std::string_view path, const std::string* query = nullptr) noexcept;
  uint8_t reroutes() const noexcept { return state_->reroutes; }  // how many times
  // Goes on with another path of the same route, where a handler has found that this is what answers: filters
  // of the answer and observers see it, path() and params() have nothing of the old one. REQUIRES:
  // !headSent().
  void answerAs(std::string_view path);
  bool isAnsweredAs() const noexcept { return state_->answered_as; }
  // The status that a page is being fetched for (Route::error_pages), 0 in an ordinary exchange. Its handler
  // answers 200 with the whole page; the status goes out in its place.
  int errorStatus() const noexcept { return static_cast<int>(error_status_); }

  // Where to say what is decided and why; nullptr while serving.
  Trace* trace() const noexcept { return context_->trace(); }
  // For filters that count requests: true the first time `who` asks, false where a request that was sent on
  // (reroute) comes by again. (The fifth of them counts every time.) REQUIRES, here and below: not parked.
  bool countsFirst(const void* who) noexcept;
  // Kept until the exchange has ended, parked or not.
  void attach(std::unique_ptr<Attachment> attachment) {
    state_->attachments.push_back(std::move(attachment));
  }

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
    if (!open()) return SendResult::kClosed;
    BodyStage* const stage = bodyStage();
    return stage == nullptr ? port_->sendBytes(copied, fin) : stage->sendBytes(copied, fin);
  }
  SendResult send(BufferRef buffer, bool fin) noexcept {
    const size_t size = buffer.size();
    return send(std::move(buffer), 0, size, fin);
  }
  SendResult send(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept {
    if (!open()) return SendResult::kClosed;
    BodyStage* const stage = bodyStage();
    return stage == nullptr ? port_->sendShared(std::move(buffer), offset, size, fin)
                            : stage->sendShared(std::move(buffer), offset, size, fin);
  }
  SendResult sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept {
    if (!open()) return SendResult::kClosed;
    BodyStage* const stage = bodyStage();
    return stage == nullptr ? port_->sendFile(std::move(file), offset, size, fin)
                            : stage->sendFile(std::move(file), offset, size, fin);
  }
  // Content that was encoded once for many answers of unknown length (makeFramed): goes out straight from the
  // block where nothing waits before it, and what the socket does not take is queued as a reference.
  // kBlocked: some of it waits for the peer. kAccepted: all is with the kernel, or will be given to it, with
  // what else is sent meanwhile, when the call that brought the request in has returned.
  SendResult sendFramed(const BufferRef& framed) noexcept;

  // Calls the listener's onDeadline in `ms` milliseconds, up to half a second later; parked or not.
  // Setting it anew is cheap. While bytes wait for the peer, the protocol's own deadline for sending stands
  // in its place: then, and where that happens later, onWritable comes when they are gone, and has to set it
  // again. REQUIRES: no content of the request is still to come.
  void setDeadline(uint32_t ms) noexcept {
    if (open()) port_->setDeadline(ms);
  }
  void clearDeadline() noexcept {
    if (open()) port_->clearDeadline();
  }
  // An interim answer (1xx other than 100 and 101) before the head, as often as one likes: 103 with Link
  // fields (RFC 8297). Filters do not see it; clients that cannot know it are not sent it.
  // The connection may turn out to be gone: then active() is false.
  void sendInterim(const ResponseHead& head) noexcept {
    if (open() && !head_sent_) port_->sendInterim(head);
  }
  // Whole answers.
  void reply(ResponseHead& head, std::string_view body) noexcept;
  // REQUIRES: mayReplyPrepared() or mayReplyNegotiated(), or it has parked: then the answer has what the
  // route's head filters add, and `lines`, further field lines ("Name: value\r\n" each), what the other
  // filters would add.
  void reply(PreparedResponse& response, std::string_view lines = {}) noexcept;
  // Whether an answer made ready with Route::filterHead() may be sent as it is.
  bool mayReplyPrepared() const noexcept {
    return mayReplyNegotiated() && state_->route->compression == nullptr;
  }
  // The same for a handler that has chosen the coding of this answer itself (ResponseHead::negotiated).
  bool mayReplyNegotiated() const noexcept {
    return !parked() && state_->route->response_filters.empty() && error_status_ == 0 && trace() == nullptr;
  }
  // The page that the route names for a status, or the service's own; `extra` holds further fields (Allow,
  // Retry-After) or is nullptr.
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
  bool parked() const noexcept { return parked_; }
  // Whoever ends its side of the connection has gone, and the exchange is aborted then, as a parked one is.
  // Otherwise that may be a client that has nothing more to ask, and waits for its answer. For work that
  // costs much and is of no use to anybody else. The next exchange is as ever.
  void endWithPeer() noexcept {
    ends_with_peer_ = true;
    if (open()) port_->endsWithPeer();
  }
  bool endsWithPeer() const noexcept { return parked_ || ends_with_peer_; }

  // A name that any thread may hold and answer by.
  ExchangeHandle handle();

  // For Compression::onHead: what is sent from now on goes through the stage. REQUIRES: none has been set.
  void setBodyStage(std::unique_ptr<BodyStage> stage) noexcept { state_->stage = std::move(stage); }
  // For the stage: nullptr without one; where its output goes, valid while the exchange is; tells the
  // listener that there is room again.
  BodyStage* bodyStage() const noexcept {
    if (!parked_) return state_->stage.get();
    return left_ != nullptr ? left_->stage.get() : nullptr;
  }
  StreamPort& port() const noexcept { return *port_; }
  void tellWritable() noexcept {
    if (open() && listener_ != nullptr) listener_->onWritable();
  }

  // After a filter said kPaused: kContinue goes on behind that filter, kReplied says that it has answered.
  // Nothing where none has paused.
  void resume(Verdict verdict) noexcept;

  // For protocols: the life of an exchange.
  // `state` lies beside the head and moves with it; its params are those of `route`.
  void start(LoopContext& context, StreamPort& port, const RequestHead& head, RequestState& state,
             std::string_view host, std::string_view path, const Route& route, ServicePin& pin,
             bool has_body) noexcept;
  void runRoute() noexcept;  // filters, then the handler
  ExchangeListener* listener() const noexcept { return listener_.get(); }
  // The port, having answered kBlocked, takes more.
  bool waitsForRoom() const noexcept { return bodyStage() != nullptr || listener_ != nullptr; }
  void onRoom() noexcept {
    if (BodyStage* const stage = bodyStage()) {
      stage->onWritable();
    } else {
      tellWritable();
    }
  }
  bool active() const noexcept { return context_ != nullptr; }
  bool headSent() const noexcept { return head_sent_; }
  // The head's text lies elsewhere now.
  void movedHead(std::string_view host, std::string_view path) noexcept;
  // `bytes` of the answer's content have been handed to the connection.
  void countContent(uint64_t bytes) noexcept {
    if (Progress* kept = progress()) kept->content_bytes += bytes;
  }
  // That many of them have not reached the socket, and will not.
  void uncountContent(uint64_t bytes) noexcept {
    if (Progress* kept = progress()) kept->uncount(bytes);
  }
  void end() noexcept;  // answered: forget everything
  // Whether anybody waits for the end. REQUIRES: active().
  bool isWatched() const noexcept {
    if (parked()) return left_ != nullptr && left_->isWatched();
    return !askedRoute().observers.empty() || !state_->attachments.empty();
  }
  // As end(), but nobody is told: the protocol does that once the client has taken the answer, or is gone.
  // nullptr: nobody is to be told. REQUIRES: active().
  std::unique_ptr<ParkedState> endUntold() noexcept;
  // The same, but it is kept here until it is taken. REQUIRES: that is before the next exchange starts.
  void endKeepingUntold() noexcept { left_ = endUntold().release(); }
  bool hasUntold() const noexcept { return context_ == nullptr && left_ != nullptr; }
  std::unique_ptr<ParkedState> takeUntold() noexcept {
    return std::unique_ptr<ParkedState>(hasUntold() ? std::exchange(left_, nullptr) : nullptr);
  }
  // Tells the listener, then end(). Where the protocol itself answers now, `status` and `content_bytes` are
  // of that answer.
  void abort(AbortReason reason, int status = 0, uint64_t content_bytes = 0) noexcept;

 private:
  bool open() const noexcept { return context_ != nullptr && !aborted_; }
  bool mayBegin() const noexcept;
  // Whose filters and observers count. REQUIRES: not parked.
  const Route& askedRoute() const noexcept {
    return state_->asked_route != nullptr ? *state_->asked_route : *state_->route;
  }
  void filterHead(ResponseHead& head, bool fin) noexcept;
  void filterHeadTold(Trace& trace, ResponseHead& head, bool fin) noexcept;
  void goTo(std::string_view path) noexcept;
  void fetchErrorPage(int status, const ErrorPage& page, const ResponseHead* extra) noexcept;
  void replyWithoutPage(int status) noexcept;
  void replyOwnPage(ResponseHead& head) noexcept;
  Outcome outcome() const noexcept;
  Progress* progress() const noexcept {
    if (!parked_) return &state_->progress;
    return left_ != nullptr && context_ != nullptr ? &left_->progress : nullptr;
  }
  void makeRequestId() const noexcept;
  void releaseService() noexcept;
  std::unique_ptr<ParkedState> parkState() noexcept;
  void finish(const Outcome& outcome) noexcept;
  void forget() noexcept;
  void dropStage(std::unique_ptr<BodyStage>& stage) noexcept;

  LoopContext* context_ = nullptr;
  StreamPort* port_ = nullptr;
  std::unique_ptr<ExchangeListener> listener_;
  union {
    RequestState* state_;  // until it parks
    ParkedState* left_;    // from then on, and while there is no exchange; owned; nullptr: nothing is left
  };
  uint32_t name_slot_ = ExchangeTable::kNone;
  unsigned error_status_ : 10;  // whose page is being fetched
  unsigned page_status_ : 10;   // to send with that page
  bool head_request_ : 1;
  bool has_body_ : 1;
  bool head_sent_ : 1;
  bool aborted_ : 1;
  bool paused_ : 1;  // by a filter
  bool parked_ : 1;
  bool ends_with_peer_ : 1;
};
static_assert(sizeof(Exchange) <= 40, "a parked exchange's budget");

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
  // The loop's own thread: the exchange, nullptr once it is over.
  Exchange* find() const noexcept {
    return context_ != nullptr ? context_->exchanges().find(name_) : nullptr;
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
