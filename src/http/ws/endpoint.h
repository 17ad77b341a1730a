#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "http/origin_rule.h"
#include "http/ws/compression.h"
#include "http/ws/frame_decoder.h"

namespace roost::http {
class Exchange;
}

namespace roost::http::ws {

class Message;
class Socket;

// What a module keeps with each of its sockets; lies behind the socket in the same memory. REQUIRES: it is
// the first base of what derives from it.
class SocketState {
 public:
  virtual ~SocketState() = default;
};

// What happens to WebSockets of one kind. Immutable, shared by all loops; calls come on the socket's loop and
// never throw. Whatever a call does to its socket, the socket is there until the call returns.
class SocketHandler {
 public:
  virtual ~SocketHandler() = default;

  // Before the handshake is answered: a state of at most stateBytes() may be built in `memory`, aligned to 8,
  // from what the request says; the request is gone afterwards. nullptr: none is wanted. Not called by
  // clients.
  virtual size_t stateBytes() const noexcept { return 0; }
  virtual SocketState* makeState(void* memory, const Exchange& exchange) const noexcept {
    static_cast<void>(memory);
    static_cast<void>(exchange);
    return nullptr;
  }
  virtual void onOpen(Socket&) const noexcept {}
  // A whole message; text is valid UTF-8. While what was answered waits for the peer to take it, no more
  // comes; a handler that waits for something else pauses the socket.
  virtual void onMessage(Socket& socket, Message& message) const noexcept = 0;
  virtual void onPong(Socket&, std::string_view) const noexcept {}
  virtual void onWritable(Socket&) const noexcept {}  // after a send that answered kBlocked
  // The last call: the peer has closed with this code and reason, or we have for the peer's mistake, or the
  // connection is gone without a word (kAbnormal). Nothing can be sent any more.
  virtual void onClose(Socket&, uint16_t code, std::string_view reason) const noexcept {
    static_cast<void>(code);
    static_cast<void>(reason);
  }
};

struct EndpointOptions {
  Role role = Role::kServer;
  uint32_t max_frame_bytes = 1 << 20;
  uint32_t max_message_bytes = 1 << 20;  // inflated
  uint32_t max_queued_bytes = 4 << 20;   // of unsent answers, beyond which a peer is cut off
  uint32_t ping_interval_ms = 30000;     // of silence until a ping is sent; 0: never
  uint32_t pong_timeout_ms = 10000;      // then, until something must have come
  uint32_t idle_timeout_ms = 0;          // without a message either way; 0: for ever
  uint32_t close_timeout_ms = 5000;      // for the peer's half of the closing handshake
  CompressionOptions compression;
  OriginPolicy origins;
  std::vector<std::string> subprotocols;  // known to this end
};

// WebSockets of one route, or of one client: their options and who handles them. Immutable and counted, since
// sockets outlive the configuration that they came by. Any thread.
class Endpoint final : public Counted {
 public:
  using Ref = CountedRef<const Endpoint>;

  static Ref make(EndpointOptions options, std::unique_ptr<const SocketHandler> handler);
  const EndpointOptions& options() const noexcept { return options_; }
  const SocketHandler& handler() const noexcept { return *handler_; }

 private:
  friend class CountedRef<const Endpoint>;
  Endpoint(EndpointOptions options, std::unique_ptr<const SocketHandler> handler) noexcept
      : options_(std::move(options)), handler_(std::move(handler)) {}
  ~Endpoint() = default;

  EndpointOptions options_;
  std::unique_ptr<const SocketHandler> handler_;
};

}  // namespace roost::http::ws
