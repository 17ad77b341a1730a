#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include "base/buffer.h"
#include "http/handler.h"
#include "http/ws/endpoint.h"
#include "http/ws/frame_decoder.h"

namespace roost::http::ws {

// A message that has arrived. Valid during SocketHandler::onMessage; its bytes may be changed.
class Message {
 public:
  bool isText() const noexcept { return opcode_ == Opcode::kText; }
  Opcode opcode() const noexcept { return opcode_; }
  std::string_view view() const noexcept { return {data_, size_}; }
  char* data() noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  friend class Socket;
  Message(Opcode opcode, char* data, size_t size, size_t headroom, BufferRef buffer) noexcept
      : data_(data), size_(size), headroom_(headroom), buffer_(std::move(buffer)), opcode_(opcode) {}
  char* data_;
  size_t size_;
  size_t headroom_;   // bytes before it that may be overwritten
  BufferRef buffer_;  // that it lies in, where it does not lie in the connection's input
  Opcode opcode_;
};

// One WebSocket, a server's or a client's: RFC 6455 on a ByteStream, which owns it. Loop thread only; lives
// until its handler's onClose has returned, and to the end of that batch of events. While nothing is under
// way it is what stands here and nothing else: buffers and decoders are there only with a message that is
// coming in.
//
// Everything sent within one of the handler's calls leaves together.
class Socket final : public ByteStreamListener {
 public:
  static std::unique_ptr<Socket> make(const Endpoint::Ref& endpoint, const Compression& agreed);
  ~Socket() override;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // For those who do the handshake.
  void makeState(const Exchange& exchange) noexcept;
  void attach(ByteStream& stream) noexcept { stream_ = &stream; }
  void begin() noexcept;  // onOpen

  // Sends a message: copied, or referenced where it is large. kBlocked: taken, but more should wait for
  // onWritable; who goes on all the same is cut off at EndpointOptions::max_queued_bytes. kClosed: not sent,
  // the socket is closing or closed. REQUIRES: text is UTF-8.
  SendResult send(Opcode opcode, std::string_view payload) noexcept;
  SendResult send(Opcode opcode, BufferRef payload) noexcept;
  // Sends a message in parts, each a frame of its own, uncompressed: the first, any number between, the last.
  // REQUIRES: no other message is sent before the last part of one.
  SendResult sendPart(Opcode opcode, std::string_view part, bool first, bool last) noexcept;
  // Sends a message back as it came, from where it lies. The message is empty after that.
  SendResult sendBack(Message& message) noexcept;
  // Sends frames that were encoded once for many sockets of servers, straight from the block where nothing
  // waits before them. kBlocked: bytes wait for the peer, and onWritable comes when they are gone. kAccepted:
  // all of them are with the kernel.
  SendResult sendFrames(const BufferRef& frames) noexcept;
  // At most kMaxControlBytes.
  SendResult ping(std::string_view payload) noexcept;

  // Stops reading: after the call that is under way nothing of the peer is handed on or looked at, neither
  // messages nor pongs nor its Close or end, until resume(); then all of it comes in its order. What the peer
  // sends meanwhile waits in at most one read's memory and then in the kernel, until the peer itself has to
  // wait. Sending goes on as ever. Its pings are not answered and it is not pinged meanwhile: who pauses sees
  // to it that somebody resumes, closes or aborts; of the timeouts only idle_timeout_ms ends a paused socket.
  // close() resumes. Both do nothing where there is nothing to do, and may be called from any of the
  // handler's calls.
  void pause() noexcept;
  void resume() noexcept;
  bool paused() const noexcept { return paused_; }

  // Begins the closing handshake; the handler's onClose comes when the peer has answered or has had its time.
  void close(uint16_t code, std::string_view reason) noexcept;
  // Ends the connection now.
  void abort() noexcept;

  bool isOpen() const noexcept { return stream_ != nullptr && !close_sent_ && !over_; }
  size_t queuedBytes() const noexcept { return stream_ == nullptr ? 0 : stream_->queuedBytes(); }
  const Endpoint& endpoint() const noexcept { return *endpoint_; }
  const net::PeerAddr& peer() const noexcept {
    return stream_->peer();
  }                                                               // REQUIRES: onClose has not returned
  event::Loop& loop() const noexcept { return stream_->loop(); }  // likewise
  // What the handler's makeState has built. REQUIRES: it has.
  SocketState& state() noexcept { return *std::launder(reinterpret_cast<SocketState*>(this + 1)); }

  // ByteStreamListener
  size_t onBytes(char* bytes, size_t size) noexcept override;
  void onWritable() noexcept override;
  void onDeadline() noexcept override;
  void onEnd() noexcept override;
  bool onShutdown() noexcept override;
  void onClose(AbortReason reason) noexcept override;
  size_t heldBytes() const noexcept override;

  static void operator delete(void* memory) noexcept { ::operator delete(memory); }

 private:
  // What is there only while a message is coming in, or where compression keeps its context from one to the
  // next.
  struct Working;

  Socket(const Endpoint::Ref& endpoint, const Compression& agreed) noexcept;
  bool isClient() const noexcept { return endpoint_->options().role == Role::kClient; }

  // These return how many bytes they have inflated.
  size_t take(const FramePiece& piece, char* frame) noexcept;
  size_t inflate(const FramePiece& piece) noexcept;
  void takeControl(const FramePiece& piece) noexcept;
  void takeClose(std::string_view payload) noexcept;
  size_t takeData(const FramePiece& piece, char* frame) noexcept;
  void takeWhole(const FramePiece& piece, char* frame) noexcept;
  void gather(const FramePiece& piece) noexcept;
  bool addInflated(Inflater& inflater, std::string_view input) noexcept;
  bool addText(std::string_view text, bool ends) noexcept;
  void deliverGathered() noexcept;
  void deliver(Message& message) noexcept;
  Working& working();
  void keep(const FrameDecoder& decoder) noexcept;

  bool mayQueue() noexcept;
  bool sendsCompressed(Opcode opcode, size_t size) const noexcept;
  void queueFrame(Opcode opcode, bool compressed, std::string_view payload, bool fin = true) noexcept;
  void queueMasked(Opcode opcode, bool compressed, std::string_view payload, bool fin) noexcept;
  bool queueCompressed(Opcode opcode, std::string_view payload) noexcept;
  SendResult flush() noexcept;
  SendResult flushForHandler() noexcept;
  void sendClose(uint16_t code, std::string_view reason) noexcept;
  void fail(uint16_t code, std::string_view reason) noexcept;
  void failForMemory() noexcept;
  void tellClosed(uint16_t code, std::string_view reason) noexcept;
  void setDeadline() noexcept;
  uint32_t idleLeftMs() const noexcept;
  void touch() noexcept;

  ByteStream* stream_ = nullptr;
  Endpoint::Ref endpoint_;
  std::unique_ptr<Working> working_;
  uint32_t last_message_ = 0;  // when one came or went, in kIdleUnitNs; only where idle_timeout_ms is set
  bool close_sent_ : 1;
  bool over_ : 1;           // nothing that comes counts any more
  bool told_ : 1;           // the handler of the end
  bool blocked_ : 1;        // waits for onWritable
  bool paused_ : 1;         // by the handler
  bool handler_waits_ : 1;  // for onWritable
  bool pinged_ : 1;         // and nothing has come since
  bool has_state_ : 1;
  bool compression_ : 1;  // what has been agreed on
  bool fresh_out_ : 1;    // each message is compressed by itself
  bool fresh_in_ : 1;
  uint8_t bits_out_ : 4;
  uint8_t bits_in_ : 4;
};
static_assert(sizeof(Socket) <= 40, "idle WebSocket budget");

}  // namespace roost::http::ws
