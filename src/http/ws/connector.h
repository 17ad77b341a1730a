#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/client/request.h"
#include "http/ws/endpoint.h"

namespace roost::http::ws {

// Why there is no WebSocket.
struct OpenFailure {
  client::ClientFailure transport;  // kNone: the server has answered, but not as it should
  uint16_t status = 0;              // what it answered; 0: nothing
  const char* reason = "";          // static

  std::string toString() const;
};

// Hears how an attempt went: one call, on the loop's thread.
class OpenListener {
 public:
  // The handler's onOpen follows. `subprotocol` is gone after the call; empty: none was agreed on.
  virtual void onOpened(Socket& socket, std::string_view subprotocol) noexcept = 0;
  virtual void onRefused(const OpenFailure& failure) noexcept = 0;

 protected:
  ~OpenListener() = default;
};

// Opens WebSockets as a client (RFC 6455 section 4.1), one after the other: asks by the HTTP client, checks
// the answer, and makes the connection a Socket of an endpoint whose role is kClient. Owned by whoever wants
// the socket; destroying it gives up an attempt, and does nothing to a socket that stands. Loop thread only.
class Connector final : private client::ResponseListener {
 public:
  Connector(client::Client& client, OpenListener& listener) noexcept : client_(client), listener_(listener) {}
  ~Connector() { cancel(); }
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  struct Options {
    // Further field lines, "Name: value\r\n" each: Origin, Authorization, Cookie.
    std::string_view fields;
    uint32_t timeout_ms = 10'000;  // for everything until it stands
    uint32_t send_timeout_ms = 30'000;
  };

  // "ws://host[:port][/path][?query]".
  static Result<client::Url> parse(std::string_view url);

  // The listener is never called from within this. What the endpoint's options say of subprotocols and
  // compression is offered. REQUIRES: no attempt is under way.
  void open(const client::Url& url, const Endpoint::Ref& endpoint, const Options& options);
  void cancel() noexcept;

 private:
  void onHead(client::Call& call, const client::ReceivedHead& head,
              const h1::ResponseFraming& framing) noexcept override;
  void onBody(client::Call&, std::string_view) noexcept override {}
  void onEnd() noexcept override {}
  void onFailure(const client::ClientFailure& failure) noexcept override;
  const char* faultOf(const client::ReceivedHead& head) const noexcept;

  client::Client& client_;
  OpenListener& listener_;
  Endpoint::Ref endpoint_;
  client::CallName call_;
  std::array<char, 24> key_{};
  uint32_t send_timeout_ms_ = 0;
};

}  // namespace roost::http::ws
