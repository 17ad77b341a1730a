// The seams a module fills: handlers that answer, filters before and after them, and listeners for what
// happens to an exchange later.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/buffer.h"
#include "net/address.h"

namespace roost::event {
class Loop;
}

namespace roost::http {

class Exchange;
class LoopContext;
class ResponseHead;
struct RequestHead;

// Why an exchange ended before its answer was complete.
enum class AbortReason : uint8_t { kPeerClosed, kReset, kTimeout, kShutdown, kProtocol };

// What became of bytes that were to be sent. kBlocked: taken, but the peer is slow; more should wait for
// onWritable. kClosed: the exchange is gone and nothing more will be sent.
enum class SendResult : uint8_t { kAccepted, kBlocked, kClosed };

enum class Verdict : uint8_t { kContinue, kReplied, kPaused };

// Answers requests. Immutable; owned by the Service it was built for; called by every loop's thread.
class Handler {
 public:
  virtual ~Handler() = default;
  // Answers now, or leaves an ExchangeListener or an ExchangeHandle behind to answer later.
  virtual void handle(Exchange& exchange) const noexcept = 0;
};

// Looks at requests before the handler does. It may answer itself (kReplied), or stop the exchange until
// Exchange::resume (kPaused). Immutable, as Handler.
class RequestFilter {
 public:
  virtual ~RequestFilter() = default;
  virtual Verdict onRequest(Exchange& exchange) const noexcept = 0;
};

// Changes the head of every answer of its route, looking at nothing but the path that was asked for and the
// head itself. Its work is done once for an answer that is kept ready (PreparedResponse). Immutable, as
// Handler.
class HeadFilter {
 public:
  virtual ~HeadFilter() = default;
  virtual void onHead(std::string_view path, ResponseHead& head) const noexcept = 0;
};

// Looks at the head of every answer of its route before it is sent, behind the HeadFilters. It may look at
// the request, and so a route that has one cannot use answers that are kept ready: what does not depend on
// the request is better made a HeadFilter. Not asked once the exchange is parked. Immutable, as Handler.
class ResponseFilter {
 public:
  virtual ~ResponseFilter() = default;
  virtual void onHead(Exchange& exchange, ResponseHead& head) const noexcept = 0;
};

// How an exchange ended.
struct Outcome {
  int status = 0;              // of the answer's head; 0: none was sent
  uint64_t content_bytes = 0;  // of the answer's content that the socket has taken
  int64_t duration_ns = 0;     // since the request's head was complete
  int64_t upstream_ns = -1;    // of it, what other servers took; -1: none was asked
  bool aborted = false;        // the answer was not completed, for `reason`
  AbortReason reason = AbortReason::kPeerClosed;
};

// A request that was answered before there was an exchange: one that cannot be read or will not be served, or
// OPTIONS of the server as a whole. Valid during the call it is passed to.
struct UnroutedRequest {
  LoopContext& context;
  const net::PeerAddr& peer;
  const RequestHead* head;    // nullptr: it could not be read
  std::string_view received;  // then: what came of its first line
};

// What is left of an observer's interest in an exchange that has parked, or whose answer the client takes
// slowly: it took what it needs of the request.
class ParkedObserver {
 public:
  virtual ~ParkedObserver() = default;
  virtual void onEnd(const Outcome& outcome) noexcept = 0;
};

// Is told of every end of an exchange of its route, after the socket has taken the last byte of the answer or
// the exchange was aborted: an access log. The request can still be read, the answer is gone. Immutable, as
// Handler.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  virtual void onEnd(const Exchange& exchange, const Outcome& outcome) const noexcept = 0;
  // The request's head is about to be freed, the route with it: what is returned is told of the end instead.
  // nullptr: nobody is.
  virtual std::unique_ptr<ParkedObserver> onPark(const Exchange& exchange) const noexcept = 0;
  // Asked of the observers of the site for unknown hosts.
  virtual void onUnrouted(const UnroutedRequest& request, const Outcome& outcome) const noexcept {
    static_cast<void>(request);
    static_cast<void>(outcome);
  }
};

// Something a filter keeps with an exchange; destroyed when the exchange has ended, parked or not, and the
// socket has taken its answer. The exchange itself may be gone by then.
class Attachment {
 public:
  virtual ~Attachment() = default;
};

// What a handler leaves with an exchange that is not answered at once. Owned by the exchange; loop thread.
// Any of these calls may answer the exchange, which destroys the listener once the call has returned.
class ExchangeListener {
 public:
  virtual ~ExchangeListener() = default;
  // A piece of the request's body; `fin` with the last (which may be empty). The bytes are gone after the
  // call; Exchange::consumed(n) says that n of them are dealt with and lets as many more come.
  virtual void onBody(std::string_view piece, bool fin) noexcept {
    static_cast<void>(piece);
    static_cast<void>(fin);
  }
  // After a send that answered kBlocked: the peer has caught up.
  virtual void onWritable() noexcept {}
  // After Exchange::setDeadline.
  virtual void onDeadline() noexcept {}
  // Of an exchange that has parked: the server ends, and waits for answers until `until_ns` of the loop's
  // clock. Whether the answer will have been given by then; it may be given within the call too. Where it
  // will not, the connection is closed.
  virtual bool onShutdown(int64_t until_ns) noexcept {
    static_cast<void>(until_ns);
    return false;
  }
  // The client is gone or was given up; nothing can be sent any more. The last call.
  virtual void onAbort(AbortReason reason) noexcept { static_cast<void>(reason); }
};

// Both ends of a connection that has stopped speaking HTTP (RFC 9110 section 7.8), or of a stream tunnelled
// through one. Valid until its listener's onClose has returned. Loop thread only.
class ByteStream {
 public:
  // Queues bytes: copied, or `size` of a shared buffer from `offset`. Nothing is refused: the writer looks at
  // what flush() answers, or at queuedBytes(). Ignored once closed.
  virtual void queue(std::string_view copied) noexcept = 0;
  virtual void queue(BufferRef buffer, size_t offset, size_t size) noexcept = 0;
  // Sends what is queued. Within onBytes that waits for its return, so that all that comes of one read leaves
  // in one call.
  virtual SendResult flush() noexcept = 0;
  // Sends a shared block at once, straight from where it lies, if nothing is queued before it; what the
  // socket does not take is queued as a reference. kAccepted: all of it is with the kernel, or will be given
  // to it when the read that is under way has been dealt with.
  virtual SendResult sendNow(const BufferRef& block) noexcept = 0;
  SendResult write(std::string_view copied) noexcept {
    queue(copied);
    return flush();
  }
  virtual size_t queuedBytes() const noexcept = 0;

  // One deadline, in milliseconds from now; setting it anew is cheap. While the socket takes nothing, the
  // stream's own deadline for sending stands in its place and these do nothing: onWritable has to set it
  // again.
  virtual void setDeadline(uint32_t ms) noexcept = 0;
  virtual void clearDeadline() noexcept = 0;

  // When everything written is sent. The listener's onBytes is not called any more, what it has not used is
  // dropped, and nothing can be written.
  virtual void close() noexcept = 0;
  // Now, by a reset; onClose is called before this returns.
  virtual void abort(AbortReason reason) noexcept = 0;
  virtual void pauseRead() noexcept = 0;
  virtual void resumeRead() noexcept = 0;
  // For a listener whose input has cost much: after this onBytes the rest of the input waits until every
  // other connection of the loop has had its turn.
  virtual void yieldRead() noexcept = 0;

  virtual event::Loop& loop() const noexcept = 0;
  virtual const net::PeerAddr& peer() const noexcept = 0;

 protected:
  ~ByteStream() = default;
};

// Owned by the stream; loop thread.
class ByteStreamListener {
 public:
  virtual ~ByteStreamListener() = default;
  // Returns how many bytes it has used; the rest is offered again with more. It may change the bytes that it
  // uses, and no others.
  virtual size_t onBytes(char* bytes, size_t size) noexcept = 0;
  // Everything has been sent, after kBlocked was answered or after the socket had been full.
  virtual void onWritable() noexcept {}
  virtual void onDeadline() noexcept {}
  virtual void onEnd() noexcept = 0;  // the peer will send no more
  // The server ends. Whoever has something to say to the peer first says it now and closes within a second;
  // false: the connection may go at once.
  virtual bool onShutdown() noexcept { return false; }
  virtual void onClose(AbortReason reason) noexcept = 0;  // the last call
  // Memory that this keeps beyond its own size for what the peer has begun to send.
  virtual size_t heldBytes() const noexcept { return 0; }
};

}  // namespace roost::http
