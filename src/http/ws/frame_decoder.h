#pragma once

#include <cstddef>
#include <cstdint>

#include "http/ws/frame.h"

namespace roost::http::ws {

// What a decoder insists on. Shared by all connections of a route; passed in, so that it is not kept per
// connection.
struct FrameRules {
  Role role = Role::kServer;  // ours: a server's peer must mask, a client's must not
  bool compression = false;   // RSV1 may mark a message (RFC 7692)
  // Of payload, as sent; compressed ones may take 1/256 more. REQUIRES: at most 1 GiB.
  uint32_t max_frame_bytes = 1 << 20;
  uint32_t max_message_bytes = 1 << 20;
};

// A piece of a frame's payload, unmasked in place. Control frames come whole.
struct FramePiece {
  char* data = nullptr;
  size_t size = 0;                  // may be 0: an empty frame
  size_t consumed = 0;              // bytes of the input that are done with, header included
  uint32_t frame_left = 0;          // bytes of this frame that are still to come
  Opcode opcode = Opcode::kBinary;  // of the message, also in its continuation frames
  bool begins = false;              // the message begins with this piece; true for control frames
  bool ends = false;                // and ends with it; true for control frames
  bool compressed = false;          // the message is
  bool ascii = false;               // every byte is known to be ASCII
};

// Takes the frames of one direction of a connection apart (RFC 6455 section 5): incrementally, over the bytes
// where they lie, without memory of its own. Checks everything about framing; what payloads mean (UTF-8,
// Close codes) is the caller's. 16 bytes of state, owned by the connection's socket; loop thread only.
//
//   for (;;) {
//     switch (decoder.next(data, size, rules, piece)) {
//       case FrameDecoder::Step::kNeedMore: return;            // nothing consumed; come again with more
//       bytes case FrameDecoder::Step::kError: return close(decoder.errorCode(), decoder.errorText()); case
//       FrameDecoder::Step::kPiece: use(piece); data += piece.consumed; size -= piece.consumed;
//     }
//   }
class FrameDecoder {
 public:
  enum class Step : uint8_t { kNeedMore, kPiece, kError };

  // Looks at `size` bytes at `data`, where the last piece's consumed bytes are gone, and changes only those
  // of the piece it gives. Mistakes in a header are told as soon as it is there; after kError nothing else
  // can come.
  Step next(char* data, size_t size, const FrameRules& rules, FramePiece& piece) noexcept;

  // Between frames and between messages: the peer may end here without having cut anything off.
  bool idle() const noexcept { return !in_frame_ && !in_message_; }

  uint16_t errorCode() const noexcept;     // after kError: kProtocolError or kTooBig
  const char* errorText() const noexcept;  // what was wrong, for the Close frame

 private:
  enum class Error : uint8_t;
  Step fail(Error error) noexcept;
  static Error checkLength(uint64_t length, uint64_t before, bool compressed,
                           const FrameRules& rules) noexcept;
  Error checkFirst(unsigned first, unsigned second, const FrameRules& rules) const noexcept;
  Step takeControl(char* payload, size_t header, size_t size, unsigned length, FramePiece& piece) noexcept;
  Step takePayload(char* payload, size_t size, size_t header, FramePiece& piece) noexcept;

  uint32_t left_ = 0;           // bytes of the frame's payload that are still to come
  uint32_t message_bytes_ = 0;  // announced so far by the frames of the message
  uint32_t key_ = 0;            // turned to the next byte; 0 where the payload is not masked
  Error error_{};
  Opcode opcode_ = Opcode::kBinary;  // of the message
  bool in_frame_ : 1;
  bool in_message_ : 1;
  bool fin_ : 1;  // of the frame
  bool begins_ : 1;
  bool compressed_ : 1;
  bool masked_ : 1;

 public:
  FrameDecoder() noexcept
      : in_frame_(false),
        in_message_(false),
        fin_(false),
        begins_(false),
        compressed_(false),
        masked_(false) {}
};
static_assert(sizeof(FrameDecoder) <= 16);

}  // namespace roost::http::ws
