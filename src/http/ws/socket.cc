#include "http/ws/socket.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "base/random.h"
#include "event/loop.h"
#include "http/ws/mask.h"
#include "http/ws/message_buffer.h"
#include "http/ws/utf8.h"

namespace roost::http::ws {
namespace {

constexpr size_t kCopyLimit = 4096;     // smaller payloads are copied, larger ones referenced
constexpr unsigned kIdleUnitBits = 24;  // last_message_ counts 2^24 ns, 17 ms

// Keys that nobody can foresee (section 5.3), a few at a time.
uint32_t nextKey() noexcept {
  thread_local std::array<uint32_t, 64> keys;
  thread_local size_t used = keys.size();
  if (used == keys.size()) {
    randomBytes(keys.data(), sizeof keys);
    used = 0;
  }
  return keys[used++];
}

}  // namespace

struct Socket::Working {
  FrameDecoder decoder;
  Utf8Check utf8;
  Opcode opcode = Opcode::kBinary;
  MessageBuffer message;
  std::optional<Inflater> inflater;
  std::optional<Deflater> deflater;
};

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
  while (used < size && !over_ && !blocked_ && !paused_) {
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
  if (blocked_ || paused_) stream_->pauseRead();
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

void Socket::takeData(const FramePiece& piece, char* frame) noexcept {
  if (piece.compressed) return inflate(piece);
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
  Working& work = working();
  if (piece.begins) work.opcode = piece.opcode;
  MessageBuffer& message = work.message;
  const size_t announced = message.size() + piece.size + piece.frame_left;
  message.reserve(piece.size, announced, endpoint_->options().max_message_bytes);
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
    message.reserve(1, std::min(limit + 1, 4 * input.size() + 512), limit + 1);
    size_t written = 0;
    state = inflater.run(input, message.space(), message.room(), written);
    message.added(written);
    if (state == Inflater::State::kError) fail(kInvalidPayload, "payload is not DEFLATE data");
    if (!over_ && message.size() > limit) fail(kTooBig, "message too big");
    if (over_) return false;
  }
  return true;
}

// A piece of a compressed message, which is put together inflated.
void Socket::inflate(const FramePiece& piece) noexcept {
  Working& work = working();
  if (piece.begins) {
    work.opcode = piece.opcode;
    if (!fresh_in_ && !work.inflater) work.inflater.emplace(unsigned{bits_in_});
  }
  // A context of its own also for a message that does not come whole: others use the shared one meanwhile.
  if (fresh_in_ && !work.inflater && !piece.ends) work.inflater.emplace(unsigned{bits_in_});
  Inflater& inflater = work.inflater ? *work.inflater : sharedInflater(bits_in_);
  const size_t before = work.message.size();
  if (!addInflated(inflater, {piece.data, piece.size})) return;
  if (piece.ends && !inflater.ended() && !addInflated(inflater, kMessageTail)) return;
  if (piece.ends && !inflater.complete()) return fail(kInvalidPayload, "payload is cut off");
  if (!addText({work.message.data() + before, work.message.size() - before}, piece.ends)) return;
  if (!piece.ends) return;
  if (fresh_in_) work.inflater.reset();
  deliverGathered();
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

// As flush(), of what the handler has sent: it is to hear when there is room again.
SendResult Socket::flushForHandler() noexcept {
  touch();
  const SendResult result = flush();
  if (result == SendResult::kBlocked) handler_waits_ = true;
  return result;
}

bool Socket::sendsCompressed(Opcode opcode, size_t size) const noexcept {
  return compression_ && !isControl(opcode) && size > 0 &&
         size >= endpoint_->options().compression.min_message_bytes;
}

void Socket::queueFrame(Opcode opcode, bool compressed, std::string_view payload, bool fin) noexcept {
  if (isClient()) return queueMasked(opcode, compressed, payload, fin);
  char header[kMaxFrameHeader];
  stream_->queue({header, writeFrameHeader(header, opcode, fin, compressed, payload.size())});
  stream_->queue(payload);
}

void Socket::queueMasked(Opcode opcode, bool compressed, std::string_view payload, bool fin) noexcept {
  const uint32_t key = nextKey();
  char header[kMaxFrameHeader];
  stream_->queue({header, writeMaskedHeader(header, opcode, fin, compressed, payload.size(), key)});
  if (payload.size() > kCopyLimit) {
    BufferRef masked = BufferRef::allocate(payload.size());
    applyMask(masked.mutableData(), payload.data(), payload.size(), key);
    return stream_->queue(std::move(masked), 0, payload.size());
  }
  char masked[kCopyLimit];
  applyMask(masked, payload.data(), payload.size(), key);
  stream_->queue({masked, payload.size()});
}

void Socket::queueCompressed(Opcode opcode, std::string_view payload) noexcept {
  const unsigned level = endpoint_->options().compression.level;
  Scratch scratch;
  std::vector<char>& coded = scratch.bytes();
  if (fresh_out_) {
    sharedDeflater(bits_out_, level).run(payload, coded);
  } else {
    Working& work = working();
    if (!work.deflater) work.deflater.emplace(unsigned{bits_out_}, level);
    work.deflater->run(payload, coded);
  }
  queueFrame(opcode, true, {coded.data(), coded.size()});
}

SendResult Socket::send(Opcode opcode, std::string_view payload) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  if (sendsCompressed(opcode, payload.size())) {
    queueCompressed(opcode, payload);
  } else {
    queueFrame(opcode, false, payload);
  }
  return flushForHandler();
}

SendResult Socket::sendPart(Opcode opcode, std::string_view part, bool first, bool last) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  queueFrame(first ? opcode : Opcode::kContinuation, false, part, last);
  return flushForHandler();
}

SendResult Socket::send(Opcode opcode, BufferRef payload) noexcept {
  const size_t size = payload.size();
  if (size <= kCopyLimit || isClient() || sendsCompressed(opcode, size)) return send(opcode, payload.view());
  if (!mayQueue()) return SendResult::kClosed;
  char header[kMaxFrameHeader];
  stream_->queue({header, writeFrameHeader(header, opcode, true, false, size)});
  stream_->queue(std::move(payload), 0, size);
  return flushForHandler();
}

SendResult Socket::sendFrames(const BufferRef& frames) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  touch();
  const SendResult result = stream_->sendNow(frames);
  if (result == SendResult::kBlocked) blocked_ = handler_waits_ = true;
  return result;
}

// The header goes in front of the payload, over the one it came with: one piece to queue.
SendResult Socket::sendBack(Message& message) noexcept {
  char header[kMaxFrameHeader];
  const bool client = isClient();
  const uint32_t key = client ? nextKey() : 0;
  const size_t size = client ? writeMaskedHeader(header, message.opcode_, true, false, message.size_, key)
                             : writeFrameHeader(header, message.opcode_, true, false, message.size_);
  if (size > message.headroom_ || sendsCompressed(message.opcode_, message.size_)) {
    return send(message.opcode_, message.view());
  }
  if (!mayQueue()) return SendResult::kClosed;
  if (client) applyMask(message.data_, message.data_, message.size_, key);
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
  return flushForHandler();
}

SendResult Socket::ping(std::string_view payload) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  queueFrame(Opcode::kPing, false, payload.substr(0, kMaxControlBytes));
  const SendResult result = flush();  // which is no message, as to idle_timeout_ms
  if (result == SendResult::kBlocked) handler_waits_ = true;
  return result;
}

void Socket::sendClose(uint16_t code, std::string_view reason) noexcept {
  char payload[kMaxControlBytes];
  const size_t size = writeClose(payload, code, reason);
  close_sent_ = true;
  queueFrame(Opcode::kClose, false, {payload, size});
  flush();
}

void Socket::close(uint16_t code, std::string_view reason) noexcept {
  if (!isOpen()) return;
  sendClose(code, reason);
  if (over_) return;
  setDeadline();
  resume();  // the peer's Close is to be read
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
