#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "http/handler.h"
#include "net/open_file.h"

namespace roost::http {

// Stands between whoever answers and the protocol, and changes the content on its way: compression. It takes
// pieces as Exchange's send functions do, keeps their order, and hands what it makes of them to
// Exchange::port(), of which the last carries `fin`; after that call, and after one that answered kClosed, it
// must not touch the exchange.
//
// What it has taken but not handed on is bounded by answering kBlocked; when there is room again it calls
// Exchange::tellWritable(). Work on another thread comes back by ExchangeHandle::post: an exchange may end at
// any time, and its stage with it.
//
// Set by Exchange::setBodyStage while the head is being filtered; owned by the exchange; loop thread.
class BodyStage {
 public:
  virtual ~BodyStage() = default;
  virtual SendResult sendBytes(std::string_view copied, bool fin) noexcept = 0;
  virtual SendResult sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept = 0;
  virtual SendResult sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept = 0;
  // The port, having answered kBlocked, takes more.
  virtual void onWritable() noexcept = 0;
};

}  // namespace roost::http
