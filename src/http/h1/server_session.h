#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "http/exchange.h"
#include "http/h1/framing.h"
#include "http/h1/head_slot.h"
#include "http/h1/writer.h"
#include "http/stream_port.h"
#include "net/connection.h"
#include "net/session.h"

namespace roost::http::h1 {

class Protocol;

// HTTP/1.0 and 1.1 on one connection that is busy: reads requests, runs them one after another, writes their
// answers in order (RFC 9112). Taken from the loop's Protocol when bytes arrive and given back when nothing
// is under way; an idle connection has none. Loop thread only.
class ServerSession final : public net::Session, public StreamPort {
 public:
  explicit ServerSession(Protocol& protocol) noexcept;  // by Protocol alone
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  void attach(net::Connection& connection) noexcept;

  // Where it stands in the Protocol's list of those it has in its pool.
  ServerSession* nextIdle() const noexcept { return next_idle_; }
  void setNextIdle(ServerSession* next) noexcept { next_idle_ = next; }

  // net::Session
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onReadEnd(net::Connection& connection) noexcept override;
  void onPeerEnd(net::Connection& connection) noexcept override;
  void onWriteBlocked(net::Connection& connection, size_t bytes) noexcept override;
  void onWriteComplete(net::Connection& connection) noexcept override;
  void onTimeout(net::Connection& connection) noexcept override;
  void onError(net::Connection& connection, int sys_errno) noexcept override;
  void onClose(net::Connection& connection) noexcept override;
  bool owesAnswer() const noexcept override;
  // A body that has been given to its listener counts until the exchange ends or parks.
  size_t heldBytes() const noexcept override;
  // The answer under way, or waited for, is the last.
  void onShutdown(net::Connection& connection, int64_t until_ns) noexcept override;

  // StreamPort
  void sendHead(const ResponseHead& head, bool fin) noexcept override;
  void sendInterim(const ResponseHead& head) noexcept override;
  SendResult sendBytes(std::string_view copied, bool fin) noexcept override;
  SendResult sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept override;
  SendResult sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept override;
  SendResult sendFramed(const BufferRef& framed) noexcept override;
  void sendPrepared(PreparedResponse& response, std::string_view lines) noexcept override;
  void setDeadline(uint32_t ms) noexcept override;
  void clearDeadline() noexcept override;
  void wantBody() noexcept override;
  void consumed(size_t bytes) noexcept override;
  void reset() noexcept override;
  ByteStream* upgrade(const ResponseHead& head,
                      std::unique_ptr<ByteStreamListener> listener) noexcept override;
  void parked() noexcept override;
  void endsWithPeer() noexcept override;
  const net::PeerAddr& peer() const noexcept override { return connection_->peer(); }

 private:
  // Where the reading side stands.
  enum class Reading : uint8_t {
    kHead,      // a request is to come, or is coming
    kBody,      // its body is coming
    kDone,      // all of the request is here; the next waits for its answer
    kUpgraded,  // the connection is another session's
    kEnd        // nothing more is read
  };
  // How much of one answer, and of a body its listener has not dealt with, may pile up.
  static constexpr uint32_t kOutLimit = 256 << 10;
  // Memory that answers to pipelined requests take up, above which no further request is looked at.
  static constexpr uint32_t kPipelineLimit = 32 << 10;
  static constexpr uint32_t kTurnLimit = 256 << 10;  // of them that are sent before others have their turn
  static constexpr uint32_t kBodyWindow = 256 << 10;
  static constexpr uint32_t kAheadLimit = 64 << 10;   // of input behind a request that is being answered
  static constexpr uint32_t kGatherLimit = 16 << 10;  // of gathered answers that count as sent
  static constexpr size_t kCopyLimit = 4096;          // smaller answers are gathered, larger ones referenced
  // What chunk sizes, extensions and trailers may take beside as much as the content before they count as
  // content.
  static constexpr uint64_t kChunkAllowance = 8 << 10;

  const ServiceOptions& options() const noexcept;

  // Reading. Each returns whether there may be more to do with what has been read.
  bool answersPileUp() noexcept;
  bool readHead(net::Chunk& in) noexcept;
  bool readBody(net::Chunk& in) noexcept;
  bool readLength(net::Chunk& in) noexcept;
  bool readChunked(net::Chunk& in) noexcept;
  bool deliver(std::string_view piece, bool fin) noexcept;
  bool bodyTooLarge(uint64_t more) noexcept;
  void judgePace() noexcept;
  bool takesTooLittle() noexcept;
  void cutSlowReader() noexcept;

  // In which parked exchanges measure how long they took; a number of them comes round after 13 days.
  static constexpr int kParkedStepShift = 18;

  // The course of one request.
  void accept(const FramingResult& framing) noexcept;
  bool resolve() noexcept;  // host and path
  void answerOptionsAsterisk() noexcept;
  // Answers an error and ends the connection. `received`: of a head that cannot be read.
  void refuse(int status, const char* reason, AbortReason why = AbortReason::kProtocol,
              std::string_view received = {}) noexcept;
  void shed() noexcept;  // the same, 503, for want of room
  void tellUnrouted(int status, uint64_t content_bytes, std::string_view received) noexcept;
  void waitForHandler() noexcept;
  void offerLater() noexcept;
  void settle() noexcept;  // ends the exchange when both its sides are done
  void finish() noexcept;
  void endExchange() noexcept;
  bool answerWaits() noexcept;
  void tellSent() noexcept;
  void tellUnsent(AbortReason reason) noexcept;
  void keepHead() noexcept;
  void giveSlot() noexcept;
  void giveParkedSlot() noexcept;
  void detachIfIdle(bool input_left) noexcept;
  void abortExchange(AbortReason reason, int status = 0, uint64_t content_bytes = 0) noexcept;
  void countTimeout() noexcept;

  // Writing.
  bool leavesBodyUnread() const noexcept;
  Persistence persistence() const noexcept;
  template <class Put>
  SendResult sendContent(uint64_t size, bool fin, bool file, Put&& put) noexcept;
  uint64_t clip(uint64_t size, bool& fin) noexcept;
  SendResult afterSend(bool fin, bool file) noexcept;
  SendResult afterFramed() noexcept;
  void endAnswer() noexcept;
  void countHead(int status) noexcept;
  void countAnswered() noexcept;
  static uint32_t parkedSteps(uint64_t ns) noexcept;

  Protocol& protocol_;
  net::Connection* connection_ = nullptr;
  HeadSlot* slot_ = nullptr;
  Exchange exchange_;  // or, untold, the one before, whose answer the client is still taking
  union {
    uint64_t out_left_ = 0;     // of an answer with Content-Length
    ServerSession* next_idle_;  // while it is in the pool
  };
  // HeadSlot::head_done_ns of an exchange that has parked, in steps of 2^kParkedStepShift ns; 0: as there.
  uint32_t parked_head_done_ = 0;
  Reading reading_ = Reading::kHead;
  Framing out_framing_ = Framing::kNone;
  bool busy_ : 1;    // onRead is on the stack
  bool closed_ : 1;  // onClose came while busy
  bool keep_alive_ : 1;
  bool http10_ : 1;
  bool chunked_body_ : 1;
  bool expects_continue_ : 1;
  bool may_upgrade_ : 1;
  bool answered_ : 1;      // all of the answer has been handed over
  bool no_content_ : 1;    // the answer to HEAD, 204, 304
  bool blocked_ : 1;       // a sender waits for onWritable
  bool timed_ : 1;         // the connection's deadline is the exchange's
  bool input_behind_ : 1;  // bytes behind this request have been read already
  bool promised_ : 1;      // a parked exchange will be answered before the server ends
};
static_assert(sizeof(ServerSession) <= 96, "a parked exchange's budget");
static_assert(sizeof(ServerSession) % 16 == 0, "a cell's size");

}  // namespace roost::http::h1
