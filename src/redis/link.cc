#include "redis/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errno_text.h"
#include "base/random.h"

namespace roost::redis {

const char* redisErrorName(RedisError error) noexcept {
  switch (error) {
    case RedisError::kNone:
      return "none";
    case RedisError::kBadCommand:
      return "bad_command";
    case RedisError::kOverload:
      return "overload";
    case RedisError::kResolve:
      return "resolve";
    case RedisError::kConnect:
      return "connect";
    case RedisError::kAuth:
      return "auth";
    case RedisError::kTimeout:
      return "timeout";
    case RedisError::kConnectionLost:
      return "connection_lost";
    case RedisError::kProtocol:
      return "protocol";
    case RedisError::kStopped:
      return "stopped";
  }
  return "";
}

std::string RedisFailure::toString() const {
  std::string text = redisErrorName(error);
  if (!detail.empty()) text.append(": ").append(detail);
  if (sys_errno != 0) text.append(": ").append(errnoText(sys_errno));
  return text;
}

void appendCommand(std::string& out, const std::string_view* args, size_t count) {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", count);
  for (size_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(out), "${}\r\n", args[i].size());
    out.append(args[i]).append("\r\n");
  }
}

Link::Link(net::IoContext& io, net::Resolver& resolver, const RedisOptions& options, LinkOwner& owner)
    : io_(io),
      resolver_(resolver),
      options_(options),
      owner_(owner),
      reader_(options.limits),
      random_(options.jitter_seed != 0 ? options.jitter_seed : randomWord()) {}

Link::~Link() {
  state_ = State::kStopped;
  io_.loop().cancel(*this);
  if (connection_ != nullptr) connection_->close();
}

void Link::start() noexcept {
  if (state_ != State::kStopped) return;
  state_ = State::kPausing;
  io_.loop().armAt(*this, io_.loop().nowNs());
}

// The pause before an attempt is over, or an attempt has taken too long.
void Link::onTimer() noexcept {
  if (state_ == State::kPausing) return attempt();
  if (state_ == State::kUp) return;
  first_address_ += next_address_;
  drop({RedisError::kTimeout, 0, "no connection in time"});
}

void Link::attempt() noexcept {
  ++attempts_;
  state_ = State::kResolving;
  io_.loop().armIn(*this, std::chrono::milliseconds(options_.connect_timeout_ms));
  addresses_.clear();
  next_address_ = 0;
  if (!options_.unix_path.empty()) {
    state_ = State::kConnecting;
    const Result<net::SocketAddress> address = net::SocketAddress::parse("unix:" + options_.unix_path, 0);
    if (!address.ok()) return down({RedisError::kConnect, EINVAL, options_.unix_path});
    const Status status = io_.connect(address.value(), *this);
    if (!status.ok()) down({RedisError::kConnect, status.sysErrno(), ""});
  } else if (const net::Resolution* known = resolver_.find(options_.host)) {
    onResolved(*known);
  } else {
    resolver_.resolve(options_.host, *this);
  }
}

void Link::onResolved(const net::Resolution& resolution) noexcept {
  if (resolution.error != net::ResolveError::kNone) {
    return down({RedisError::kResolve, 0, net::resolveErrorText(resolution.error)});
  }
  addresses_ = resolution.addresses;
  state_ = State::kConnecting;
  why_ = {};
  connectNext();
}

void Link::connectNext() noexcept {
  while (next_address_ < addresses_.size()) {
    net::PeerAddr address = addresses_[(first_address_ + next_address_++) % addresses_.size()];
    address.port = options_.port;
    const Status status = io_.connect(net::SocketAddress(address), *this);
    if (status.ok()) return;
    why_ = {RedisError::kConnect, status.sysErrno(), ""};
  }
  down(std::exchange(why_, {}));
}

void Link::onConnecting(net::Connection& connection) noexcept {
  connection_ = &connection;
  // One that does not answer leaves the others their part of the time.
  if (next_address_ >= addresses_.size()) return;
  connection.setDeadline(
      std::max(options_.connect_timeout_ms / static_cast<uint32_t>(addresses_.size()), 1U));
}

void Link::onConnected(net::Connection& connection) noexcept {
  connection.clearDeadline();
  reader_.reset();
  why_ = {};
  sayHello();
}

void Link::sayHello() noexcept {
  state_ = State::kHandshake;
  greetings_ = 0;
  std::string hello;
  const std::string database = std::to_string(options_.database);
  const std::string_view auth[] = {"AUTH", options_.user, options_.password};
  const std::string_view old_auth[] = {"AUTH", options_.password};
  const std::string_view select[] = {"SELECT", database};
  if (!options_.password.empty()) {
    options_.user.empty() ? appendCommand(hello, old_auth, 2) : appendCommand(hello, auth, 3);
    ++greetings_;
  }
  if (options_.database != 0) {
    appendCommand(hello, select, 2);
    ++greetings_;
  }
  connection_->write(hello);
  if (greetings_ == 0) becomeUp();
}

void Link::becomeUp() noexcept {
  state_ = State::kUp;
  up_since_ns_ = io_.loop().nowNs();
  io_.loop().cancel(*this);
  owner_.onUp();
}

void Link::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  reader_.feed({in.data(), in.size()});
  in.consume(in.size());
  while (std::unique_ptr<Reply> reply = reader_.next()) {
    takeReply(std::move(reply));
    if (connection.closed()) return;
  }
  if (reader_.failed()) drop({RedisError::kProtocol, 0, reader_.error()});
}

void Link::takeReply(std::unique_ptr<Reply> reply) noexcept {
  if (state_ == State::kUp) {
    if (!reply->isError())
      failures_ = 0;  // errors may be all it has: of passwords, loading, too many clients
    return owner_.onReply(std::move(reply));
  }
  if (!reply->isOk()) return drop({RedisError::kAuth, 0, reply->text});
  if (--greetings_ == 0) becomeUp();
}

void Link::send(std::string_view bytes) noexcept {
  connection_->write(bytes);
  connection_->offerInputSoon();
}

void Link::onTimeout(net::Connection& connection) noexcept {
  if (state_ == State::kConnecting) return connection.fail(ETIMEDOUT);
  owner_.onDeadline();
}

void Link::onError(net::Connection&, int sys_errno) noexcept {
  const bool making = state_ == State::kConnecting;
  if (why_.error == RedisError::kNone || making) {
    why_ = {making ? RedisError::kConnect : RedisError::kConnectionLost, sys_errno, ""};
  }
}

void Link::onClose(net::Connection&) noexcept {
  connection_ = nullptr;
  if (state_ == State::kStopped) return;
  if (state_ == State::kConnecting && why_.error == RedisError::kConnect) return connectNext();
  if (why_.error == RedisError::kNone) why_.error = RedisError::kConnectionLost;
  down(std::exchange(why_, {}));
}

void Link::drop(const RedisFailure& failure) noexcept {
  if (connection_ == nullptr) {
    resolver_.cancel(*this);
    return down(failure);
  }
  why_ = failure;
  connection_->close();  // onClose says the rest
}

void Link::down(const RedisFailure& failure) noexcept {
  const int64_t stood_ns = state_ == State::kUp ? io_.loop().nowNs() - up_since_ns_ : 0;
  if (stood_ns > int64_t{options_.backoff_max_ms} * 1'000'000) failures_ = 0;
  state_ = State::kPausing;
  failures_ = std::min(failures_ + 1, 16U);
  const uint64_t most =
      std::min<uint64_t>(uint64_t{options_.backoff_min_ms} << (failures_ - 1), options_.backoff_max_ms);
  random_ = scrambled(random_ + 0x9e3779b97f4a7c15);
  // Between half of it and all of it.
  const uint64_t ms = most / 2 + random_ % (most / 2 + 1);
  io_.loop().armIn(*this, std::chrono::milliseconds(ms));
  owner_.onDown(failure);
}

}  // namespace roost::redis
