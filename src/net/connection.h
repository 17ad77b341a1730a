#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "event/idle_wheel.h"
#include "event/io_handler.h"
#include "net/address.h"
#include "net/chunk.h"
#include "net/open_file.h"
#include "net/out_queue.h"
#include "net/session.h"
#include "net/transport.h"

namespace roost::net {

class IoContext;

// One socket and what it costs while nothing happens on it. It lives in its loop's slab (IoContext) and is
// named by {loop, slot, generation}; no other thread may hold a pointer to it. It owns no buffer while it is
// idle: bytes are read into the loop's, and what a session leaves unconsumed moves into a borrowed chunk.
//
// Layout, 64-bit: handler vptr 8, wheel node 24, context 8, transport 8, session 8, input chunk 8, out queue
// 8, requests 4, fd 4, peer 20, listener and flags 4. The slab adds 8, the slot among them.
class Connection final : public event::IoHandler, private event::WheelNode {
 public:
  // A session that leaves more than this unconsumed, and does not pause reading, loses its connection
  // (ENOBUFS).
  static constexpr size_t kMaxUnreadBytes = 4 << 20;

  // Made by IoContext only.
  Connection(uint32_t slot, IoContext& context, Transport& transport, int fd, const PeerAddr& peer,
             uint16_t listener) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void onIo(uint32_t events) noexcept override;

  IoContext& context() const noexcept { return context_; }
  const PeerAddr& peer() const noexcept { return peer_; }
  // For whom a proxy has announced (net/proxy_session.h).
  void setPeer(const PeerAddr& peer) noexcept { peer_ = peer; }
  uint16_t listener() const noexcept { return listener_; }  // index of the listener it came through
  uint32_t slot() const noexcept;
  uint32_t requests() const noexcept { return requests_; }
  void countRequest() noexcept { ++requests_; }
  bool accepted() const noexcept { return has(kAccepted); }  // it came through a listener
  bool closed() const noexcept { return (flags_ & kClosed) != 0; }

  void setSession(Session& session) noexcept { session_ = &session; }
  Session* session() const noexcept { return session_; }

  // Writing. What is written is queued; it goes out when the current onRead returns, or by flush(). Nothing
  // is refused: the writer watches queuedBytes() and waits for onWriteComplete. Ignored on a closed
  // connection. Where there is no memory for it the connection fails (ENOMEM), once its caller has returned
  // to the loop.
  void write(std::string_view bytes) noexcept;                             // copied
  void write(BufferRef buffer, size_t offset, size_t size) noexcept;       // referenced
  void writeFile(OpenFile file, uint64_t offset, uint64_t size) noexcept;  // sent by the kernel
  // Sends `bytes` right away where nothing is queued before them; returns how many went out, 0 where the
  // socket is full or has failed (the next flush tells).
  size_t writeNow(std::string_view bytes) noexcept;
  // Sends what is queued, as far as the socket takes it.
  void flush() noexcept;
  // As flush(), also from within onRead, but tells the session nothing: what is left or has failed, the next
  // flush tells of.
  // Nothing is sent once this connection has sent `turn_bytes` in its turn.
  void sendNow(size_t turn_bytes = OutQueue::kTurnBytes) noexcept;
  // The socket was found full, and has not taken more since.
  bool writeBlocked() const noexcept { return has(kWantsWrite); }
  bool writing() const noexcept { return !out_.empty(); }
  // Bytes of memory that wait to be sent; file ranges do not count.
  uint32_t queuedBytes() const noexcept { return out_.memoryBytes(); }
  // Memory that what waits to be sent takes up, whatever it is: what a writer watches that does not know how
  // much of it is overhead.
  uint32_t heldOutBytes() const noexcept { return out_.heldBytes(); }
  // Memory that comes back when the connection is reset, as far as it and its session know. Looks at every
  // slice of the queue.
  uint64_t reclaimableBytes() const noexcept;

  // Reading goes on by itself until paused; what the kernel holds then waits there.
  void pauseRead() noexcept { flags_ |= kReadPaused; }
  void resumeRead() noexcept;
  // Whether Session::onPeerEnd is to tell, once, that the peer ends its side while reading is paused.
  void watchEnd(bool on) noexcept;
  // Reads away at most `most` bytes without looking at them; returns how many, 0 where there are none now or
  // the connection has ended (the next read tells). For onRead, when all input has been consumed.
  size_t discardNow(size_t most) noexcept;
  bool readPaused() const noexcept { return has(kReadPaused); }
  bool readEnded() const noexcept { return has(kReadEnded); }  // the peer has ended its side
  // Whether there is nothing to read, nor the end. What is found to be there may be lost: for whoever closes
  // a connection that is not quiet.
  bool quiet() noexcept;
  // Reads what the peer sent before the connection failed, and offers it. For onError; nothing is sent then.
  void readRest() noexcept;
  // Offers what was left unconsumed to the session again, then flushes. Not from within onRead.
  void offerInput() noexcept;
  // The same once every other connection that is ready has had its turn: for onWriteComplete, where one
  // answer would otherwise lead to the next for as long as there is input. The end of input is told after it.
  void offerInputSoon() noexcept;
  bool offersSoon() const noexcept { return has(kOffersSoon); }
  std::string_view unread() const noexcept {
    return in_ == nullptr ? std::string_view{} : std::string_view(in_->data(), in_->size());
  }
  // What write() and writeFile() were given and the socket has not taken; counted one by one.
  uint64_t unsentBytes() const noexcept { return out_.unsentBytes(); }
  size_t unreadBytes() const noexcept { return in_ == nullptr ? 0 : in_->size(); }

  // While writing(): has the peer taken anything since the socket was found full, or since this was last
  // asked? The poller tells of room only once a third of the send buffer is free, which a peer that reads
  // slowly may take minutes for; so a deadline that passes asks here before it gives up.
  bool writeProgressed() noexcept;
  // While writing(), for whoever is told that the socket is full or has just asked writeProgressed(): has the
  // peer taken `bytes_per_s` on the average of the time since the last such question that came at least
  // `window_ms` after the one before? True where the time is not up yet.
  bool takesEnough(uint32_t bytes_per_s, uint32_t window_ms) noexcept;

  // One deadline, in milliseconds from now, exact to IoContext::kTickMs; onTimeout is called when it passes.
  void setDeadline(uint32_t ms) noexcept;
  void clearDeadline() noexcept;
  // How long until the deadline passes, to IoContext::kTickMs. REQUIRES: it has been set.
  uint32_t deadlineLeftMs() const noexcept;

  // Ends the connection. close(): now, dropping what is queued. closeAfterWrite(): when the queue has been
  // sent; with `linger` the peer's further bytes are then read away for a bounded time, so that a reset does
  // not take the answer from it (RFC 9112 section 9.6). fail(): tells the session of an error, then close().
  // reset(): like close(), but the peer is told by RST.
  void close() noexcept;
  void closeAfterWrite(bool linger) noexcept;
  void tellShrunkFile() const;
  void fail(int sys_errno) noexcept;
  void failForMemory() noexcept;  // ENOMEM, counted and logged
  void reset() noexcept;

 private:
  friend class IoContext;
  enum Flag : uint16_t {
    kReadPaused = 1,
    kWantsWrite = 2,  // EPOLLOUT is asked for
    kConnecting = 4,
    kCloseAfterWrite = 8,
    kLinger = 16,
    kClosed = 32,
    kInRead = 64,      // onRead is on the stack: writes wait for its end
    kReadEnded = 128,  // the peer's FIN has been seen
    kInPoller = 256,
    kPollsRead = 512,  // what the poller was last told
    kPollsWrite = 1024,
    kAccepted = 2048,    // came through a listener
    kOffersSoon = 4096,  // the context will call offerInput
    kWatchesEnd = 8192,
    kPollsEnd = 16384,     // as kPollsRead
    kOutOfMemory = 32768,  // something to send is missing: it is about to fail
  };
  bool has(Flag flag) const noexcept { return (flags_ & flag) != 0; }
  void set(Flag flag, bool on) noexcept {
    flags_ = static_cast<uint16_t>(on ? flags_ | flag : flags_ & ~flag);
  }
  void start(bool connecting) noexcept;
  void finishConnect() noexcept;
  IoResult sendTurn(size_t& most) noexcept;
  size_t readReady() noexcept;  // how many bytes
  void deliver(Chunk& in) noexcept;
  void keepRest(Chunk& in) noexcept;
  void endOfInput() noexcept;
  void finishClose() noexcept;
  void updatePoller() noexcept;
  void afterQueueing(bool queued) noexcept;

  IoContext& context_;
  Transport* transport_;
  Session* session_ = nullptr;
  Chunk* in_ = nullptr;  // what the session has not consumed yet
  OutQueue out_;
  uint32_t requests_ = 0;
  int32_t fd_;
  PeerAddr peer_;
  uint16_t listener_;
  uint16_t flags_ = 0;
};
static_assert(sizeof(Connection) <= 104, "idle connection budget");

}  // namespace roost::net
