// What a client is asked to send, and who hears of the answer.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "http/client/failure.h"
#include "http/client/received_head.h"
#include "http/client/url.h"
#include "http/h1/framing.h"

namespace roost::http::client {

class Call;

// Milliseconds; 0: none. Coarse (IoContext::kTickMs) but for connect and total.
struct Timeouts {
  uint32_t connect_ms = 10'000;  // until the request has a connection: waiting, names and addresses included
  uint32_t first_byte_ms = 60'000;  // from the request being sent to the first byte of the answer
  uint32_t idle_ms = 60'000;        // between two pieces of the answer; a peer that takes nothing of the body
  uint32_t total_ms = 0;            // from start to end, redirects included
};

// A request. Everything in it is copied or referenced (the body) before Client::start returns.
struct Request {
  std::string_view method = "GET";  // any token but CONNECT
  std::string_view target = "/";    // origin-form, or "*"
  std::string_view host_field;      // empty: the origin's
  // Field lines, "Name: value\r\n" each, without Host, Content-Length, Transfer-Encoding, Connection, Expect
  // and Upgrade, which are the client's business.
  std::string_view fields;

  // The content: this buffer; or, where `streams_body`, what Call::send is given: content_length bytes of it,
  // or chunks where that is negative.
  BufferRef body;
  bool streams_body = false;
  int64_t content_length = -1;
  // Asks whether the content is wanted, and waits for that at most Client::Options::expect_wait_ms
  // (RFC 9110 section 10.1.1). With streams_body, send() nothing before the first onWritable.
  bool expects_continue = false;

  bool closes = false;        // the connection is not to be kept
  std::string_view upgrade;   // asks for another protocol (RFC 9110 section 7.8): "websocket"
  uint8_t max_redirects = 0;  // 0: they are answers like any other
  Timeouts timeouts;
};

// Hears of one call. Borrowed from Client::start until the last call, which is one of onEnd and onFailure, or
// until Call::cancel or Call::upgrade has returned. Loop thread; never throws. From within any of these the
// call may be cancelled and others be started.
class ResponseListener {
 public:
  // A 1xx answer but 101, 100 among them.
  virtual void onInterim(Call&, const ReceivedHead&) noexcept {}
  // A redirect that is being followed; `to` is where.
  virtual void onRedirect(Call&, const ReceivedHead&, const Url& to) noexcept { static_cast<void>(to); }
  // The answer's head; it and its text are gone after the call. With status 101 the call has to be upgraded
  // now.
  virtual void onHead(Call&, const ReceivedHead& head, const h1::ResponseFraming& framing) noexcept = 0;
  // A piece of the content, gone after the call; Call::pause holds back those that follow.
  virtual void onBody(Call&, std::string_view piece) noexcept = 0;
  // Content may be sent (again): send() answered kBlocked, or the server said to continue.
  virtual void onWritable(Call&) noexcept {}
  // The answer is complete. The call is over, as it is with onFailure.
  virtual void onEnd() noexcept = 0;
  virtual void onFailure(const ClientFailure& failure) noexcept = 0;

 protected:
  ~ResponseListener() = default;
};

}  // namespace roost::http::client
