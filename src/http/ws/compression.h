// permessage-deflate (RFC 7692): what two ends agree on, and the coding itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

struct z_stream_s;

namespace roost::http {
struct RequestHead;
}

namespace roost::http::ws {

// What one end wants.
struct CompressionOptions {
  bool on = false;
  bool server_no_context_takeover = true;
  bool client_no_context_takeover = true;
  uint8_t server_max_window_bits = 15;  // 8 to 15
  uint8_t client_max_window_bits = 15;
  uint8_t level = 1;                 // zlib's, 1 to 9
  uint32_t min_message_bytes = 128;  // smaller ones are sent as they are
};

// What both have agreed on.
struct Compression {
  bool on = false;
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  uint8_t server_bits = 15;
  uint8_t client_bits = 15;
};

// The server's side: takes the first offer of the request that it can, and says in `answer` what
// Sec-WebSocket-Extensions is to say. Offers with parameters that are unknown, doubled or wrong are passed
// over.
Compression chooseCompression(const RequestHead& head, const CompressionOptions& ours, std::string& answer);

// The client's side: the offer, and the server's answer to it. Errors: what was not offered, or makes no
// sense.
std::string compressionOffer(const CompressionOptions& ours);
Result<Compression> readCompressionAnswer(std::string_view value, const CompressionOptions& ours);

struct InflateEnd {
  void operator()(z_stream_s* stream) const noexcept;
};
struct DeflateEnd {
  void operator()(z_stream_s* stream) const noexcept;
};

// Takes compressed messages apart, piece by piece. Owned by a socket that keeps its context from message to
// message, or by the thread, for all that do not. About 10 KiB, and its window once a message has needed it.
class Inflater {
 public:
  enum class State : uint8_t { kNeedInput, kNeedRoom, kError, kNoMemory };

  explicit Inflater(unsigned window_bits) noexcept;
  // Forgets everything, for another window; tries again where there was no memory for it.
  void reset(unsigned window_bits) noexcept;
  // Takes from `in` and writes up to `room` bytes to `out`; `written` says how many. After kNeedRoom it goes
  // on with more room. After the last piece of a message come kMessageTail's bytes, unless
  // it has ended(). kNoMemory: nothing is left but to give up the stream.
  State run(std::string_view& in, char* out, size_t room, size_t& written) noexcept;
  // The last byte taken ended the stream, as a sender may do instead of flushing it: no tail belongs there.
  bool ended() const noexcept { return ended_; }
  // After the tail: the message was whole. Of one that was cut off, the tail has been taken for its data.
  bool complete() const noexcept;

 private:
  void open(unsigned window_bits) noexcept;
  std::unique_ptr<z_stream_s, InflateEnd> stream_;  // nullptr: there was no memory for it
  bool ended_ = false;
};
constexpr std::string_view kMessageTail{"\x00\x00\xff\xff", 4};

// Compresses messages. Owned as an Inflater is; 20 to 260 KiB, by window.
class Deflater {
 public:
  // A window of 8 bits is served by zlib's of 9, which never looks back further than 250 bytes.
  Deflater(unsigned window_bits, unsigned level) noexcept;
  // Forgets everything; tries again where there was no memory for it.
  void reset() noexcept;
  // Appends a message's payload to `out`, without kMessageTail. False: there is no memory for it; nothing of
  // the message is part of the context, and it can be sent as it is. REQUIRES: it is not empty.
  bool run(std::string_view message, std::vector<char>& out) noexcept;

 private:
  void open() noexcept;
  std::unique_ptr<z_stream_s, DeflateEnd> stream_;  // nullptr: there was no memory for it
  uint8_t window_bits_;
  uint8_t level_;
};

// This thread's memory for a compressed message on its way into a stream, empty. What a large one has made of
// it is given back. REQUIRES: one at a time.
class Scratch {
 public:
  static constexpr size_t kKeptBytes = 64 << 10;  // at most, from one message to the next

  Scratch() noexcept;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::vector<char>& bytes() noexcept { return bytes_; }

 private:
  std::vector<char>& bytes_;
};

// For messages that are coded by themselves; one of each kind per thread, reset.
Inflater& sharedInflater(unsigned window_bits);
Deflater& sharedDeflater(unsigned window_bits, unsigned level);

}  // namespace roost::http::ws
