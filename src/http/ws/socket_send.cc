// What goes out.
#include <array>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "http/ws/mask.h"
#include "http/ws/socket_working.h"

namespace roost::http::ws {
namespace {

constexpr size_t kCopyLimit = 4096;  // smaller payloads are copied, larger ones referenced

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

// False where there is no memory for that: it can be sent as it is.
bool Socket::queueCompressed(Opcode opcode, std::string_view payload) noexcept {
  const unsigned level = endpoint_->options().compression.level;
  Scratch scratch;
  std::vector<char>& coded = scratch.bytes();
  if (fresh_out_) {
    if (!sharedDeflater(bits_out_, level).run(payload, coded)) return false;
  } else {
    Working& work = working();
    if (!work.deflater) work.deflater.emplace(unsigned{bits_out_}, level);
    if (!work.deflater->run(payload, coded)) {
      work.deflater.reset();
      return false;
    }
  }
  queueFrame(opcode, true, {coded.data(), coded.size()});
  return true;
}

SendResult Socket::send(Opcode opcode, std::string_view payload) noexcept {
  if (!mayQueue()) return SendResult::kClosed;
  if (!sendsCompressed(opcode, payload.size()) || !queueCompressed(opcode, payload))
    queueFrame(opcode, false, payload);
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

}  // namespace roost::http::ws
