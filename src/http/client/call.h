#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/list.h"
#include "event/timer_queue.h"
#include "http/client/request.h"
#include "http/handler.h"

namespace roost::http::client {

class Client;
class ClientConnection;
class OriginPool;

// Names a call for other threads and later times; a stale one names nothing. Only with the Client it came
// from.
struct CallName {
  uint32_t slot = UINT32_MAX;
  uint32_t generation = 0;
};

// When things happened, nanoseconds of the loop's clock, which is read once per batch of events; 0: not yet.
struct CallTimes {
  int64_t started_ns = 0;
  int64_t connected_ns = 0;  // it got its connection
  int64_t first_byte_ns = 0;
};

// One request on its way and its answer. Lives in its Client's slab from Client::start until its listener's
// last call, which comes when it is gone already. Loop thread only.
class Call final : private event::Timer, private ListHook {
 public:
  // Made by Client::start only.
  Call(uint32_t slot, Client& client, ResponseListener& listener) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  CallName name() const noexcept;

  // A piece of the content of a request that streams it; `fin` with the last (which may be empty). Content
  // beyond content_length is cut off. kBlocked: taken, more should wait for onWritable. kClosed: it is not
  // wanted any more. Before there is a connection it is kept in memory, and answered kBlocked.
  SendResult send(std::string_view copied, bool fin) noexcept;
  SendResult send(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept;

  // Back-pressure: no onBody until resume(), and the server is not read. Timeouts but the total one wait too.
  void pause() noexcept;
  void resume() noexcept;

  // Gives up. The listener hears nothing any more; the connection is closed, unless there was none yet.
  void cancel() noexcept;

  // Within onHead of a 101: the connection becomes the listener's, and bytes behind the head are offered to
  // it once this batch of events is over. The call is over. A server that takes nothing of what is sent for
  // `send_timeout_ms` is cut off. The connection does not count for the pool any more. REQUIRES: not called
  // before.
  ByteStream& upgrade(std::unique_ptr<ByteStreamListener> listener, uint32_t send_timeout_ms) noexcept;

  const CallTimes& times() const noexcept { return times_; }
  bool onKeptConnection() const noexcept { return on_kept_; }  // on one that had served others before
  uint8_t redirects() const noexcept { return redirects_; }
  uint8_t retries() const noexcept { return retries_; }  // since the last redirect
  const Url& url() const noexcept { return url_; }       // what is being asked, after redirects

 private:
  friend class Client;
  friend class ClientConnection;
  friend class OriginPool;

  void onTimer() noexcept override;
  void armTimer() noexcept;
  SendResult sent(bool fin) noexcept;
  void redirectTo(const Url& to, bool becomes_get);
  bool mayRepeat() const noexcept;  // it may be sent twice, and all of it is still here

  Client& client_;
  ResponseListener* listener_;
  OriginPool* pool_ = nullptr;              // where it waits, or where its connection belongs
  ClientConnection* connection_ = nullptr;  // nullptr: it waits
  Url url_;
  std::string method_text_;
  std::string host_field_;
  std::string fields_;
  std::string upgrade_;
  std::string early_;  // content that was streamed before there was a connection
  BufferRef body_;
  int64_t content_length_ = 0;  // streamed; -1: chunks
  int64_t left_ = 0;            // of it
  Timeouts timeouts_;
  CallTimes times_;
  int64_t connect_deadline_ns_ = 0;
  uint32_t slot_;
  Method method_ = Method::kUnknown;
  uint8_t max_redirects_ = 0;
  uint8_t redirects_ = 0;
  uint8_t retries_ = 0;
  bool streams_ = false;
  bool expects_ = false;
  bool closes_ = false;
  bool all_sent_ = false;  // the last of a streamed body has been given
  bool wants_room_ = false;
  bool paused_ = false;
  bool on_kept_ = false;
};

}  // namespace roost::http::client
