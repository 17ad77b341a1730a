#include "http/ws/socket.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "event/loop.h"
#include "http/ws/socket_working.h"
#include "log/log.h"

namespace roost::http::ws {
namespace {

constexpr unsigned kIdleUnitBits = 24;  // last_message_ counts 2^24 ns, 17 ms
// Inflating a frame of 1 KB may make 1 MB of it, and its handler works on that. After so much of it, between
// two frames, the loop's other connections have their turn.
constexpr size_t kTurnInflatedBytes = 256 << 10;

}  // namespace

Endpoint::Ref Endpoint::make(EndpointOptions options, std::unique_ptr<const SocketHandler> handler) {
  return Ref::adopt(new Endpoint(std::move(options), std::move(handler)));
}

std::unique_ptr<Socket> Socket::make(const Endpoint::Ref& endpoint, const Compression& agreed) {
  void* memory = ::operator new(sizeof(Socket) + endpoint->handler().stateBytes());
  return std::unique_ptr<Socket>(new (memory) Socket(endpoint, agreed));
}

Socket::Socket(const Endpoint::Ref& endpoint, const Compression& agreed) noexcept
    : endpoint_(endpoint),
      close_sent_(false),
      over_(false),
      told_(false),
      blocked_(false),
      paused_(false),
      handler_waits_(false),
      pinged_(false),
      has_state_(false),
      compression_(agreed.on) {
  const bool client = isClient();
  fresh_out_ = client ? agreed.client_no_context_takeover : agreed.server_no_context_takeover;
  fresh_in_ = client ? agreed.server_no_context_takeover : agreed.client_no_context_takeover;
  bits_out_ = (client ? agreed.client_bits : agreed.server_bits) & 15U;
  bits_in_ = (client ? agreed.server_bits : agreed.client_bits) & 15U;
}

Socket::~Socket() {
  if (has_state_) state().~SocketState();
}

void Socket::makeState(const Exchange& exchange) noexcept {
  if (endpoint_->handler().stateBytes() == 0) return;
  has_state_ = endpoint_->handler().makeState(this + 1, exchange) != nullptr;
}

void Socket::begin() noexcept {
  if (!isOpen()) return;  // whoever was told of it has closed it
  touch();
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
  rules.compression = compression_;
  rules.max_frame_bytes = endpoint_->options().max_frame_bytes;
  rules.max_message_bytes = endpoint_->options().max_message_bytes;
  FrameDecoder decoder = working_ != nullptr ? working_->decoder : FrameDecoder();
  size_t used = 0;
  size_t inflated = 0;
  while (used < size && inflated < kTurnInflatedBytes && !over_ && !blocked_ && !paused_) {
    FramePiece piece;
    const FrameDecoder::Step step = decoder.next(bytes + used, size - used, rules, piece);
    if (step == FrameDecoder::Step::kNeedMore) break;
    if (step == FrameDecoder::Step::kError) {
      fail(decoder.errorCode(), decoder.errorText());
      break;
    }
    inflated += take(piece, bytes + used);
    used += piece.consumed;
  }
  if (over_) return size;
  keep(decoder);
  if (blocked_ || paused_) {
    stream_->pauseRead();
  } else if (inflated >= kTurnInflatedBytes) {
    stream_->yieldRead();
  }
  return used;
}

Socket::Working& Socket::working() {
  if (working_ == nullptr) working_ = std::make_unique<Working>();
  return *working_;
}

void Socket::keep(const FrameDecoder& decoder) noexcept {
  if (!decoder.idle()) {
    working().decoder = decoder;
  } else if (working_ != nullptr) {
    working_->decoder = decoder;
    if (!working_->inflater && !working_->deflater) working_.reset();
  }
}

size_t Socket::take(const FramePiece& piece, char* frame) noexcept {
  if (isControl(piece.opcode)) {
    takeControl(piece);
    return 0;
  }
  // What crosses our Close is of no use to anybody (section 5.5.1).
  return close_sent_ ? 0 : takeData(piece, frame);
}

void Socket::takeControl(const FramePiece& piece) noexcept {
  const std::string_view payload(piece.data, piece.size);
  if (piece.opcode == Opcode::kClose) return takeClose(payload);
  if (close_sent_) return;
  if (piece.opcode == Opcode::kPong) return endpoint_->handler().onPong(*this, payload);
  if (!mayQueue()) return;
  queueFrame(Opcode::kPong, false, payload);
  flush();
}

void Socket::takeClose(std::string_view payload) noexcept {
  const CloseText close = readClose(payload);
  if (close.error != 0) return fail(close.error, "malformed Close");
  if (!close_sent_) sendClose(close.code, {});
  over_ = true;
  tellClosed(close.code, close.reason);
  stream_->close();
}

size_t Socket::takeData(const FramePiece& piece, char* frame) noexcept {
  if (piece.compressed) return inflate(piece);
  if (piece.begins && piece.ends) {
    takeWhole(piece, frame);
  } else {
    gather(piece);
  }
  return 0;
}

void Socket::takeWhole(const FramePiece& piece, char* frame) noexcept {
  if (piece.opcode == Opcode::kText && !piece.ascii) {
    Utf8Check utf8;
    if (!utf8.add(piece.data, piece.size) || !utf8.complete())
      return fail(kInvalidPayload, "text is not UTF-8");
  }
  Message message(piece.opcode, piece.data, piece.size, static_cast<size_t>(piece.data - frame), {});
  deliver(message);
}

void Socket::gather(const FramePiece& piece) noexcept {
  Working& work = working();
  if (piece.begins) work.opcode = piece.opcode;
  MessageBuffer& message = work.message;
  const size_t announced = message.size() + piece.size + piece.frame_left;
  if (!message.reserve(piece.size, announced, endpoint_->options().max_message_bytes)) return failForMemory();
  if (piece.size > 0) std::memcpy(message.space(), piece.data, piece.size);
  message.added(piece.size);
  const bool plain = piece.ascii && work.utf8.complete();
  if (!plain && !addText({piece.data, piece.size}, piece.ends)) return;
  if (piece.ends) deliverGathered();
}

// Looks at the next bytes of a text. False where it is none, and the connection has failed.
bool Socket::addText(std::string_view text, bool ends) noexcept {
  Working& work = *working_;
  if (work.opcode != Opcode::kText) return true;
  if (work.utf8.add(text.data(), text.size()) && (!ends || work.utf8.complete())) return true;
  fail(kInvalidPayload, "text is not UTF-8");
  return false;
}

// Adds what `input` inflates to. False where that failed, and so the connection.
bool Socket::addInflated(Inflater& inflater, std::string_view input) noexcept {
  MessageBuffer& message = working_->message;
  const size_t limit = endpoint_->options().max_message_bytes;
  for (Inflater::State state = Inflater::State::kNeedRoom; state == Inflater::State::kNeedRoom;) {
    // One byte more than may come tells what is too big from what just fits.
    if (!message.reserve(1, std::min(limit + 1, 4 * input.size() + 512), limit + 1)) {
      failForMemory();
      return false;
    }
    size_t written = 0;
    state = inflater.run(input, message.space(), message.room(), written);
    message.added(written);
    if (state == Inflater::State::kError) fail(kInvalidPayload, "payload is not DEFLATE data");
    if (state == Inflater::State::kNoMemory) failForMemory();
    if (!over_ && message.size() > limit) fail(kTooBig, "message too big");
    if (over_) return false;
  }
  return true;
}

// Not the peer's mistake: it may come again (RFC 6455's registry of close codes has 1013 for that).
void Socket::failForMemory() noexcept {
  LOG_EVERY_SECOND(ERROR, "no memory for a message over a WebSocket client={}: it is closed with 1013",
                   stream_->peer().toString());
  fail(kTryAgainLater, "out of memory");
}

// A piece of a compressed message, which is put together inflated.
size_t Socket::inflate(const FramePiece& piece) noexcept {
  Working& work = working();
  if (piece.begins) {
    work.opcode = piece.opcode;
    if (!fresh_in_ && !work.inflater) work.inflater.emplace(unsigned{bits_in_});
  }
  // A context of its own also for a message that does not come whole: others use the shared one meanwhile.
  if (fresh_in_ && !work.inflater && !piece.ends) work.inflater.emplace(unsigned{bits_in_});
  Inflater& inflater = work.inflater ? *work.inflater : sharedInflater(bits_in_);
  const size_t before = work.message.size();
  if (!addInflated(inflater, {piece.data, piece.size})) return 0;
  if (piece.ends && !inflater.ended() && !addInflated(inflater, kMessageTail)) return 0;
  if (piece.ends && !inflater.complete()) {
    fail(kInvalidPayload, "payload is cut off");
    return 0;
  }
  const size_t inflated = work.message.size() - before;
  if (!addText({work.message.data() + before, inflated}, piece.ends)) return 0;
  if (!piece.ends) return inflated;
  if (fresh_in_) work.inflater.reset();
  deliverGathered();
  return inflated;
}

void Socket::deliverGathered() noexcept {
  Working& work = *working_;
  const size_t size = work.message.size();
  BufferRef buffer = work.message.take();
  char* const data = buffer.mutableData() + MessageBuffer::kHeadroom;
  Message message(work.opcode, data, size, MessageBuffer::kHeadroom, std::move(buffer));
  work.utf8.reset();
  deliver(message);
}

void Socket::deliver(Message& message) noexcept {
  touch();
  endpoint_->handler().onMessage(*this, message);
}

void Socket::onEnd() noexcept {
  over_ = true;
  tellClosed(kAbnormal, {});
  stream_->close();
}

size_t Socket::heldBytes() const noexcept {
  return working_ == nullptr ? 0 : sizeof(Working) + working_->message.capacity();
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

// --- when it goes on

void Socket::onWritable() noexcept {
  if (over_) return;
  setDeadline();
  const bool was_blocked = blocked_;
  blocked_ = false;
  if (handler_waits_) {
    handler_waits_ = false;
    if (!close_sent_) endpoint_->handler().onWritable(*this);
  }
  if (was_blocked && !blocked_ && !paused_ && !over_) stream_->resumeRead();
}

void Socket::pause() noexcept {
  if (!isOpen() || paused_) return;
  paused_ = true;
  pinged_ = false;
  setDeadline();
  stream_->pauseRead();
}

void Socket::resume() noexcept {
  if (!paused_) return;
  paused_ = false;
  if (over_ || stream_ == nullptr) return;
  setDeadline();
  if (!blocked_) stream_->resumeRead();
}

// --- time

void Socket::touch() noexcept {
  if (endpoint_->options().idle_timeout_ms == 0 || stream_ == nullptr) return;
  last_message_ = static_cast<uint32_t>(stream_->loop().nowNs() >> kIdleUnitBits);
}

// 0: it has been idle for long enough.
uint32_t Socket::idleLeftMs() const noexcept {
  const uint32_t now = static_cast<uint32_t>(stream_->loop().nowNs() >> kIdleUnitBits);
  const uint64_t passed_ms = (uint64_t{now - last_message_} << kIdleUnitBits) / 1'000'000;
  const uint32_t whole_ms = endpoint_->options().idle_timeout_ms;
  return passed_ms >= whole_ms ? 0 : whole_ms - static_cast<uint32_t>(passed_ms);
}

void Socket::setDeadline() noexcept {
  const EndpointOptions& options = endpoint_->options();
  if (close_sent_) return stream_->setDeadline(options.close_timeout_ms);
  // What has come is not looked at while paused, so silence says nothing of the peer.
  uint32_t ms = paused_ ? 0 : pinged_ ? options.pong_timeout_ms : options.ping_interval_ms;
  if (options.idle_timeout_ms != 0) {
    // A little more than is left, which is rounded.
    const uint32_t idle_ms = idleLeftMs() + (1U << kIdleUnitBits) / 1'000'000 + 1;
    ms = ms == 0 ? idle_ms : std::min(ms, idle_ms);
  }
  if (ms != 0) {
    stream_->setDeadline(ms);
  } else if (paused_) {
    stream_->clearDeadline();
  }
}

void Socket::onDeadline() noexcept {
  const EndpointOptions& options = endpoint_->options();
  if (close_sent_) return stream_->abort(AbortReason::kTimeout);
  if (options.idle_timeout_ms != 0 && idleLeftMs() == 0) return close(kNormal, "idle");
  if (pinged_) return stream_->abort(AbortReason::kTimeout);
  if (paused_ || options.ping_interval_ms == 0) return setDeadline();
  pinged_ = true;
  setDeadline();
  if (!mayQueue()) return;
  queueFrame(Opcode::kPing, false, {});
  flush();
}

bool Socket::onShutdown() noexcept {
  if (!isOpen()) return !over_;
  close(kGoingAway, {});
  return !over_;
}

}  // namespace roost::http::ws
