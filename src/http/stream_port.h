#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/buffer.h"
#include "http/handler.h"
#include "http/prepared_response.h"
#include "http/response_head.h"
#include "net/address.h"
#include "net/open_file.h"

namespace roost::http {

// What a protocol implements underneath an Exchange: HTTP/1 a connection at a time, HTTP/2 and 3 a stream at
// a time. Only Exchange calls it. Once `fin` has been passed, or reset() called, the exchange is over as soon
// as its request's body is.
class StreamPort {
 public:
  virtual void sendHead(const ResponseHead& head, bool fin) noexcept = 0;
  // A 1xx answer before the head, lines only; nothing where the client could not understand it.
  virtual void sendInterim(const ResponseHead& head) noexcept = 0;
  virtual SendResult sendBytes(std::string_view copied, bool fin) noexcept = 0;
  virtual SendResult sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept = 0;
  virtual SendResult sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept = 0;
  // As Exchange::sendFramed().
  virtual SendResult sendFramed(const BufferRef& framed) noexcept = 0;
  // A whole answer, and further field lines ("Name: value\r\n" each) of its head.
  virtual void sendPrepared(PreparedResponse& response, std::string_view lines) noexcept = 0;
  // As Exchange::setDeadline() and clearDeadline().
  virtual void setDeadline(uint32_t ms) noexcept = 0;
  virtual void clearDeadline() noexcept = 0;
  virtual void wantBody() noexcept = 0;  // somebody listens: 100 (Continue)
  virtual void consumed(size_t bytes) noexcept = 0;
  virtual void reset() noexcept = 0;  // the answer cannot be completed
  virtual ByteStream* upgrade(const ResponseHead& head,
                              std::unique_ptr<ByteStreamListener> listener) noexcept = 0;
  virtual void parked() noexcept = 0;        // the request's head is not needed any more
  virtual void endsWithPeer() noexcept = 0;  // it is to be reset as soon as the peer ends its side
  virtual const net::PeerAddr& peer() const noexcept = 0;

 protected:
  ~StreamPort() = default;
};

}  // namespace roost::http
