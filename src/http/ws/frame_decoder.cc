#include "http/ws/frame_decoder.h"

#include <algorithm>
#include <cstring>

#include "http/ws/mask.h"

namespace roost::http::ws {

enum class FrameDecoder::Error : uint8_t {
  kNone,
  kReservedBits,
  kOpcode,
  kControlFragmented,
  kControlLong,
  kNotMasked,
  kMasked,
  kNoMessage,
  kMessageOpen,
  kLengthForm,
  kFrameBig,
  kMessageBig,
};

namespace {

constexpr const char* kErrorTexts[] = {
    "",
    "reserved bit set",
    "unknown opcode",
    "fragmented control frame",
    "control frame too long",
    "frame is not masked",
    "frame is masked",
    "nothing to continue",
    "message within a message",
    "length not in its shortest form",
    "frame too big",
    "message too big",
};

uint64_t readLength(const char* at, size_t bytes) noexcept {
  uint64_t length = 0;
  for (size_t i = 0; i < bytes; ++i) length = length << 8 | static_cast<unsigned char>(at[i]);
  return length;
}

}  // namespace

uint16_t FrameDecoder::errorCode() const noexcept {
  return error_ >= Error::kFrameBig ? kTooBig : kProtocolError;
}

const char* FrameDecoder::errorText() const noexcept {
  return kErrorTexts[static_cast<size_t>(error_)];
}

FrameDecoder::Step FrameDecoder::fail(Error error) noexcept {
  error_ = error;
  return Step::kError;
}

// What the first two bytes of a header tell.
FrameDecoder::Error FrameDecoder::checkFirst(unsigned first, unsigned second,
                                             const FrameRules& rules) const noexcept {
  const unsigned opcode = first & 15;
  const bool starts = opcode == 1 || opcode == 2;
  const unsigned allowed = rules.compression && starts ? 0x40U : 0U;
  if ((first & 0x70 & ~allowed) != 0) return Error::kReservedBits;
  if (opcode > 10 || (opcode > 2 && opcode < 8)) return Error::kOpcode;
  if (opcode >= 8) {
    if ((first & 0x80) == 0) return Error::kControlFragmented;
    if ((second & 0x7f) > kMaxControlBytes) return Error::kControlLong;
  } else if (starts == in_message_) {
    return starts ? Error::kMessageOpen : Error::kNoMessage;
  }
  const bool masked = (second & 0x80) != 0;
  if (masked == (rules.role == Role::kServer)) return Error::kNone;
  return masked ? Error::kMasked : Error::kNotMasked;
}

// What cannot be compressed grows by it, so that the message's own limit is the inflater's to check.
FrameDecoder::Error FrameDecoder::checkLength(uint64_t length, uint64_t before, bool compressed,
                                              const FrameRules& rules) noexcept {
  const auto limitOf = [&](uint64_t bytes) { return compressed ? bytes + bytes / 256 + 64 : bytes; };
  if (length > limitOf(rules.max_frame_bytes)) return Error::kFrameBig;
  return length + before > limitOf(rules.max_message_bytes) ? Error::kMessageBig : Error::kNone;
}

FrameDecoder::Step FrameDecoder::next(char* data, size_t size, const FrameRules& rules,
                                      FramePiece& piece) noexcept {
  if (error_ != Error::kNone) return Step::kError;
  if (in_frame_) return takePayload(data, size, 0, piece);
  if (size < 2) return Step::kNeedMore;
  const unsigned first = static_cast<unsigned char>(data[0]);
  const unsigned second = static_cast<unsigned char>(data[1]);
  if (const Error error = checkFirst(first, second, rules); error != Error::kNone) return fail(error);
  const unsigned short_length = second & 0x7f;
  masked_ = (second & 0x80) != 0;
  const size_t length_bytes = short_length < 126 ? 0 : short_length == 126 ? 2 : 8;
  const size_t header = 2 + length_bytes + (masked_ ? 4 : 0);
  uint64_t length = short_length;
  if (length_bytes != 0) {
    if (size < 2 + length_bytes) return Step::kNeedMore;
    length = readLength(data + 2, length_bytes);
    // The highest bit of eight must be 0 (section 5.2); it is not the limit that is exceeded.
    if (length < (length_bytes == 2 ? 126U : 65536U) || (length >> 63) != 0) return fail(Error::kLengthForm);
  }
  const auto opcode = static_cast<Opcode>(first & 15);
  if (!isControl(opcode)) {
    const bool starts = opcode != Opcode::kContinuation;
    const Error error =
        checkLength(length, starts ? 0 : message_bytes_, starts ? (first & 0x40) != 0 : compressed_, rules);
    if (error != Error::kNone) return fail(error);
  }
  if (size < header) return Step::kNeedMore;
  key_ = 0;
  if (masked_) std::memcpy(&key_, data + header - 4, sizeof key_);
  if (isControl(opcode)) {
    piece.opcode = opcode;
    return takeControl(data + header, header, size - header, short_length, piece);
  }
  if (length > 0 && size == header) return Step::kNeedMore;
  begins_ = opcode != Opcode::kContinuation;
  if (begins_) {
    opcode_ = opcode;
    compressed_ = (first & 0x40) != 0;
    message_bytes_ = 0;
  }
  message_bytes_ += static_cast<uint32_t>(length);
  left_ = static_cast<uint32_t>(length);
  fin_ = (first & 0x80) != 0;
  in_frame_ = in_message_ = true;
  return takePayload(data + header, size - header, header, piece);
}

FrameDecoder::Step FrameDecoder::takeControl(char* payload, size_t header, size_t size, unsigned length,
                                             FramePiece& piece) noexcept {
  if (size < length) return Step::kNeedMore;
  piece.ascii = masked_ && applyMask(payload, payload, length, key_);
  piece.data = payload;
  piece.size = length;
  piece.consumed = header + length;
  piece.frame_left = 0;
  piece.begins = piece.ends = true;
  piece.compressed = false;
  return Step::kPiece;
}

FrameDecoder::Step FrameDecoder::takePayload(char* payload, size_t size, size_t header,
                                             FramePiece& piece) noexcept {
  const size_t part = std::min<size_t>(size, left_);
  if (part == 0 && left_ > 0) return Step::kNeedMore;
  piece.ascii = masked_ && applyMask(payload, payload, part, key_);
  left_ -= static_cast<uint32_t>(part);
  key_ = advanceKey(key_, part);
  piece.data = payload;
  piece.size = part;
  piece.consumed = header + part;
  piece.frame_left = left_;
  piece.opcode = opcode_;
  piece.begins = begins_;
  piece.compressed = compressed_;
  begins_ = false;
  in_frame_ = left_ > 0;
  piece.ends = !in_frame_ && fin_;
  if (piece.ends) in_message_ = false;
  return Step::kPiece;
}

}  // namespace roost::http::ws
