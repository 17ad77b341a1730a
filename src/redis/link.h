// A connection to a Redis server that comes back by itself. Internal to redis/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/loop.h"
#include "net/connection.h"
#include "net/io_context.h"
#include "net/resolver.h"
#include "net/session.h"
#include "redis/error.h"
#include "redis/options.h"

namespace roost::redis {

// Appends a command as it goes over the wire: an array of bulk strings.
void appendCommand(std::string& out, const std::string_view* args, size_t count);

// Who uses a Link. None of these is called from within the link's own functions.
class LinkOwner {
 public:
  // Connected, authenticated, the database selected.
  virtual void onUp() noexcept = 0;
  virtual void onReply(std::unique_ptr<Reply> reply) noexcept = 0;
  // The connection is gone, or an attempt failed; another follows after a pause.
  virtual void onDown(const RedisFailure& failure) noexcept = 0;
  // The deadline that was set has passed.
  virtual void onDeadline() noexcept = 0;

 protected:
  ~LinkOwner() = default;
};

// Connects, says AUTH and SELECT, passes replies on; after a failure tries again, waiting twice as long each
// time and a random part less, so that many clients do not come back at once. Owned by a client or a
// subscriber, on one loop.
class Link final : public net::Session, public net::ResolveListener, private event::Timer {
 public:
  Link(net::IoContext& io, net::Resolver& resolver, const RedisOptions& options, LinkOwner& owner);
  ~Link();  // says nothing to the owner
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void start() noexcept;
  bool up() const noexcept { return state_ == State::kUp; }
  // Queues bytes; they go out with all others of this batch of events. REQUIRES: up().
  void send(std::string_view bytes) noexcept;
  size_t queuedBytes() const noexcept { return connection_ == nullptr ? 0 : connection_->queuedBytes(); }
  // One deadline of the connection, coarse (IoContext::kTickMs). REQUIRES: up().
  void setDeadline(uint32_t ms) noexcept { connection_->setDeadline(ms); }
  void clearDeadline() noexcept { connection_->clearDeadline(); }
  // Gives the connection up, for this reason. The owner hears of it before this returns.
  void drop(const RedisFailure& failure) noexcept;
  uint64_t attempts() const noexcept { return attempts_; }

  // net::Session and net::ResolveListener
  void onResolved(const net::Resolution& resolution) noexcept override;
  void onConnecting(net::Connection& connection) noexcept override;
  void onConnected(net::Connection& connection) noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onTimeout(net::Connection& connection) noexcept override;  // of an address, or the owner's
  void onError(net::Connection& connection, int sys_errno) noexcept override;
  void onClose(net::Connection& connection) noexcept override;

 private:
  enum class State : uint8_t { kStopped, kPausing, kResolving, kConnecting, kHandshake, kUp };

  void onTimer() noexcept override;
  void attempt() noexcept;
  void connectNext() noexcept;
  void sayHello() noexcept;
  void becomeUp() noexcept;
  void takeReply(std::unique_ptr<Reply> reply) noexcept;
  void down(const RedisFailure& failure) noexcept;

  net::IoContext& io_;
  net::Resolver& resolver_;
  const RedisOptions options_;
  LinkOwner& owner_;
  net::Connection* connection_ = nullptr;
  ReplyReader reader_;
  std::vector<net::PeerAddr> addresses_;
  size_t next_address_ = 0;   // counted from first_address_
  size_t first_address_ = 0;  // moves on when an attempt has taken too long
  uint32_t greetings_ = 0;    // replies of the handshake still to come
  uint32_t failures_ = 0;     // in a row: since the server last did what it was asked
  int64_t up_since_ns_ = 0;
  uint64_t attempts_ = 0;
  uint64_t random_;
  RedisFailure why_;  // the connection is being closed
  State state_ = State::kStopped;
};

}  // namespace roost::redis
