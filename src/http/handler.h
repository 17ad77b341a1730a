// The seams a module fills: handlers that answer, filters before and after them, and listeners for what
// happens to an exchange later.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <string_view>

namespace roost::http {

class Exchange;
class ResponseHead;

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

// Looks at the head of every answer of its route before it is sent. What it needs of the request it took in
// RequestFilter::onRequest where the exchange may be parked by then. Immutable, as Handler.
class ResponseFilter {
 public:
  virtual ~ResponseFilter() = default;
  virtual void onHead(Exchange& exchange, ResponseHead& head) const noexcept = 0;
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
  // The client is gone or was given up; nothing can be sent any more. The last call.
  virtual void onAbort(AbortReason reason) noexcept { static_cast<void>(reason); }
};

// Both ends of a connection that has stopped speaking HTTP (RFC 9110 section 7.8), or of a stream tunnelled
// through one.
class ByteStream {
 public:
  virtual SendResult write(std::string_view bytes) noexcept = 0;  // copied
  // When everything written is sent. The listener's onBytes is not called any more, what it has not used is
  // dropped, and nothing can be written.
  virtual void close() noexcept = 0;
  virtual void pauseRead() noexcept = 0;
  virtual void resumeRead() noexcept = 0;

 protected:
  ~ByteStream() = default;
};

// Owned by the upgraded exchange; loop thread.
class ByteStreamListener {
 public:
  virtual ~ByteStreamListener() = default;
  // Returns how many bytes it has used; the rest is offered again with more.
  virtual size_t onBytes(std::string_view bytes) noexcept = 0;
  virtual void onWritable() noexcept {}
  virtual void onEnd() noexcept = 0;                      // the peer will send no more
  virtual void onClose(AbortReason reason) noexcept = 0;  // the last call
};

}  // namespace roost::http
