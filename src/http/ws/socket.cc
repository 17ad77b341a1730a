#include "http/ws/socket.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "http/ws/mask.h"
#include "http/ws/utf8.h"

namespace roost::http::ws {
namespace {

constexpr size_t kHeadroom = 16;  // before a message that is put together: for the header of an answer
constexpr size_t kFirstBuffer = 64 << 10;  // at most, whatever a header announces
constexpr size_t kCopyLimit = 4096;        // smaller payloads are copied, larger ones referenced

}  // namespace

struct Socket::Incoming {
  FrameDecoder decoder;
  Utf8Check utf8;
  Opcode opcode = Opcode::kBinary;
  BufferRef buffer;  // of the message so far, behind kHeadroom bytes
  size_t size = 0;
};

Endpoint::Ref Endpoint::make(EndpointOptions options, std::unique_ptr<const SocketHandler> handler) {
  return Ref(new Endpoint(std::move(options), std::move(handler)));
}

std::unique_ptr<Socket> Socket::make(const Endpoint::Ref& endpoint) {
  void* memory = ::operator new(sizeof(Socket) + endpoint->handler().stateBytes());
  return std::unique_ptr<Socket>(new (memory) Socket(endpoint));
}

Socket::Socket(const Endpoint::Ref& endpoint) noexcept
    : endpoint_(endpoint),
      close_sent_(false),
      over_(false),
      told_(false),
      blocked_(false),
      handler_waits_(false),
      pinged_(false),
      has_state_(false) {}

Socket::~Socket() {
  if (has_state_) state().~SocketState();
}

void Socket::makeState(const Exchange& exchange) noexcept {
  if (endpoint_->handler().stateBytes() == 0) return;
  has_state_ = endpoint_->handler().makeState(this + 1, exchange) != nullptr;
}

void Socket::open(ByteStream& stream) noexcept {
  stream_ = &stream;
  setDeadline();
  endpoint_->handler().onOpen(*this);
  if (isOpen()) flush();
}

// --- what comes in

size_t Socket::onBytes(char* bytes, size_t size) noexcept {
  if (pinged_ || endpoint_->options().ping_interval_ms != 0) {
    pinged_ = false;
    if (!close_sent_) setDeadline();
  }
  FrameRules rules;
  rules.role = endpoint_->options().role;
  rules.max_frame_bytes = endpoint_->options().max_frame_bytes;
  rules.max_message_bytes = endpoint_->options().max_message_bytes;
  FrameDecoder decoder = incoming_ != nullptr ? incoming_->decoder : FrameDecoder();
  size_t used = 0;
  while (used < size && !over_ && !blocked_) {
    FramePiece piece;
    const FrameDecoder::Step step = decoder.next(bytes + used, size - used, rules, piece);
    if (step == FrameDecoder::Step::kNeedMore) break;
    if (step == FrameDecoder::Step::kError) {
      fail(decoder.errorCode(), decoder.errorText());
      break;
    }
    take(piece, bytes + used);
    used += piece.consumed;
  }
  if (over_) return size;
  keep(decoder);
  if (blocked_) stream_->pauseRead();
  return used;
}

void Socket::keep(const FrameDecoder& decoder) noexcept {
  if (decoder.idle()) {
    incoming_.reset();
    return;
  }
  if (incoming_ == nullptr) incoming_ = std::make_unique<Incoming>();
  incoming_->decoder = decoder;
}

void Socket::take(const FramePiece& piece, char* frame) noexcept {
  if (isControl(piece.opcode)) {
    takeControl(piece);
  } else if (!close_sent_) {  // what crosses our Close is of no use to anybody (section 5.5.1)
    takeData(piece, frame);
  }
}

void Socket::takeControl(const FramePiece& piece) noexcept {
  const std::string_view payload(piece.data, piece.size);
  if (piece.opcode == Opcode::kClose) return takeClose(payload);
  if (close_sent_) return;
  if (piece.opcode == Opcode::kPong) return endpoint_->handler().onPong(*this, payload);
  if (mayQueue()) sendFrame(Opcode::kPong, payload);
}

void Socket::takeClose(std::string_view payload) noexcept {
  const CloseText close = readClose(payload);
  if (close.error != 0) return fail(close.error, "malformed Close");
  if (!close_sent_) sendClose(close.code, {});
  over_ = true;
  tellClosed(close.code, close.reason);
  stream_->close();
}

void Socket::takeData(const FramePiece& piece, char* frame) noexcept {
  if (!piece.begins || !piece.ends) return gather(piece);
  if (piece.opcode == Opcode::kText && !piece.ascii) {
    Utf8Check utf8;
    if (!utf8.add(piece.data, piece.size) || !utf8.complete())
      return fail(kInvalidPayload, "text is not UTF-8");
  }
  Message message(piece.opcode, piece.data, piece.size, static_cast<size_t>(piece.data - frame), {});
  deliver(message);
}

void Socket::gather(const FramePiece& piece) noexcept {
  if (incoming_ == nullptr) incoming_ = std::make_unique<Incoming>();
  Incoming& in = *incoming_;
  if (piece.begins) {
    in.opcode = piece.opcode;
    in.size = 0;
  }
  const size_t needed = in.size + piece.size;
  if (in.buffer.size() < kHeadroom + needed) {
    const size_t announced = needed + piece.frame_left;
    BufferRef larger = BufferRef::allocate(
        kHeadroom + std::max(needed, std::min(announced, std::max(kFirstBuffer, 2 * needed))));
    if (in.size > 0) std::memcpy(larger.mutableData() + kHeadroom, in.buffer.data() + kHeadroom, in.size);
    in.buffer = std::move(larger);
  }
  if (piece.size > 0) std::memcpy(in.buffer.mutableData() + kHeadroom + in.size, piece.data, piece.size);
  in.size = needed;
  if (in.opcode == Opcode::kText) {
    const bool plain = piece.ascii && in.utf8.complete();
    const bool valid = plain || in.utf8.add(piece.data, piece.size);
    if (!valid || (piece.ends && !in.utf8.complete())) return fail(kInvalidPayload, "text is not UTF-8");
  }
  if (!piece.ends) return;
  BufferRef buffer = std::move(in.buffer);
  char* const data = buffer.mutableData() + kHeadroom;
  Message message(in.opcode, data, in.size, kHeadroom, std::move(buffer));
  in = Incoming();
  deliver(message);
}

void Socket::deliver(Message& message) noexcept {
  endpoint_->handler().onMessage(*this, message);
}

void Socket::onEnd() noexcept {
  over_ = true;
  tellClosed(kAbnormal, {});
  stream_->close();
}

void Socket::onClose(AbortReason) noexcept {
  over_ = true;
  tellClosed(kAbnormal, {});
  stream_ = nullptr;
}

void Socket::tellClosed(uint16_t code, std::string_view reason) noexcept {
  if (told_ || stream_ == nullptr) return;
  told_ = true;
  endpoint_->handler().onClose(*this, code, reason);
}

// --- what goes out

// Whether there may be more to send; a peer that has let too much pile up is cut off.
bool Socket::mayQueue() noexcept {
  if (!isOpen()) return false;
  if (stream_->queuedBytes() <= endpoint_->options().max_queued_bytes) return true;
  stream_->abort(AbortReason::kTimeout);
  return false;
}

SendResult Socket::flush() noexcept {
  const SendResult result = stream_->flush();
  if (result == SendResult::kBlocked) blocked_ = true;
  return result;
}

SendResult Socket::sendFrame(Opcode opcode, std::string_view payload) noexcept {
  char header[kMaxFrameHeader];
  const size_t size = writeFrameHeader(header, opcode, true, false, payload.size());
  stream_->queue({header, size});
  stream_->queue(payload);
  return flush();
}

SendResult Socket::send(Opcode opcode, std::string_view payload) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  const SendResult result = sendFrame(opcode, payload);
  if (result == SendResult::kBlocked) handler_waits_ = true;
  return result;
}

SendResult Socket::send(Opcode opcode, BufferRef payload) noexcept {
  if (payload.size() <= kCopyLimit) return send(opcode, payload.view());
  if (!mayQueue()) return SendResult::kClosed;
  char header[kMaxFrameHeader];
  const size_t size = writeFrameHeader(header, opcode, true, false, payload.size());
  stream_->queue({header, size});
  return sendFrames(std::move(payload));
}

SendResult Socket::sendFrames(BufferRef frames) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  if (frames.size() <= kCopyLimit) {
    stream_->queue(frames.view());
  } else {
    const size_t size = frames.size();
    stream_->queue(std::move(frames), 0, size);
  }
  const SendResult result = flush();
  if (result == SendResult::kBlocked) handler_waits_ = true;
  return result;
}

// The header goes in front of the payload, over the one it came with: one piece to queue.
SendResult Socket::sendBack(Message& message) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  char header[kMaxFrameHeader];
  const size_t size = writeFrameHeader(header, message.opcode_, true, false, message.size_);
  char* const frame = message.data_ - size;
  std::memcpy(frame, header, size);
  const size_t whole = size + message.size_;
  if (message.buffer_ && whole > kCopyLimit) {
    const auto offset = static_cast<size_t>(frame - message.buffer_.data());
    stream_->queue(std::move(message.buffer_), offset, whole);
  } else {
    stream_->queue({frame, whole});
  }
  message.size_ = 0;
  const SendResult result = flush();
  if (result == SendResult::kBlocked) handler_waits_ = true;
  return result;
}

SendResult Socket::ping(std::string_view payload) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  return sendFrame(Opcode::kPing, payload.substr(0, kMaxControlBytes));
}

void Socket::sendClose(uint16_t code, std::string_view reason) noexcept {
  char payload[kMaxControlBytes];
  const size_t size = writeClose(payload, code, reason);
  close_sent_ = true;
  sendFrame(Opcode::kClose, {payload, size});
}

void Socket::close(uint16_t code, std::string_view reason) noexcept {
  if (!isOpen()) return;
  sendClose(code, reason);
  if (over_) return;
  setDeadline();
}

// The peer has broken the rules: it is told, and not listened to any more (section 7.1.7).
void Socket::fail(uint16_t code, std::string_view reason) noexcept {
  over_ = true;
  if (!close_sent_) sendClose(code, reason);
  tellClosed(code, reason);
  if (stream_ != nullptr) stream_->close();
}

void Socket::abort() noexcept {
  if (stream_ != nullptr && !over_) stream_->abort(AbortReason::kReset);
}

void Socket::onWritable() noexcept {
  if (over_) return;
  setDeadline();
  const bool was_blocked = blocked_;
  blocked_ = false;
  if (handler_waits_) {
    handler_waits_ = false;
    if (!close_sent_) endpoint_->handler().onWritable(*this);
  }
  if (was_blocked && !blocked_ && !over_) stream_->resumeRead();
}

// --- time

void Socket::setDeadline() noexcept {
  const EndpointOptions& options = endpoint_->options();
  if (close_sent_) {
    stream_->setDeadline(options.close_timeout_ms);
  } else if (pinged_) {
    stream_->setDeadline(options.pong_timeout_ms);
  } else if (options.ping_interval_ms != 0) {
    stream_->setDeadline(options.ping_interval_ms);
  }
}

void Socket::onDeadline() noexcept {
  if (close_sent_ || pinged_) return stream_->abort(AbortReason::kTimeout);
  pinged_ = true;
  setDeadline();
  ping({});
}

bool Socket::onShutdown() noexcept {
  if (!isOpen()) return !over_;
  close(kGoingAway, {});
  return !over_;
}

}  // namespace roost::http::ws
