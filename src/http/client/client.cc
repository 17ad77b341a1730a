#include "http/client/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/client/client_connection.h"
#include "http/client/counters.h"
#include "http/field_id.h"
#include "http/field_syntax.h"
#include "http/token_list.h"

namespace roost::http::client {
namespace {

constexpr size_t kKeptSlots = 64;
constexpr int kShutdownRounds = 8;

Method methodOf(std::string_view text) noexcept {
  for (int i = 0; i < static_cast<int>(Method::kUnknown); ++i) {
    if (methodName(static_cast<Method>(i)) == text) return static_cast<Method>(i);
  }
  return Method::kUnknown;
}

bool isOurs(FieldId id) noexcept {
  switch (id) {
    case FieldId::kHost:
    case FieldId::kContentLength:
    case FieldId::kTransferEncoding:
    case FieldId::kConnection:
    case FieldId::kKeepAlive:
    case FieldId::kProxyConnection:
    case FieldId::kExpect:
    case FieldId::kUpgrade:
      return true;
    default:
      return false;
  }
}

// What is wrong with field lines; nullptr: nothing.
const char* faultOfFields(std::string_view fields) noexcept {
  while (!fields.empty()) {
    const size_t end = fields.find("\r\n");
    if (end == std::string_view::npos) return "a field line without its end";
    const std::string_view line = fields.substr(0, end);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !isToken(line.substr(0, colon))) return "malformed field name";
    if (!isFieldValue(trimOws(line.substr(colon + 1)))) return "malformed field value";
    if (isOurs(fieldId(line.substr(0, colon)))) return "a field that is the client's business";
    fields.remove_prefix(end + 2);
  }
  return nullptr;
}

}  // namespace

Client::Client(net::IoContext& io, net::Resolver& resolver, const ClientOptions& options,
               const ClientCounters* counters) noexcept
    : io_(io), resolver_(resolver), options_(options), counters_(counters) {}

Client::~Client() {
  stopping_ = true;
  // What listeners start now is told, too; who never gives up is left alone at last.
  for (int round = 0; round < kShutdownRounds && calls_.size() > 0; ++round) {
    calls_.forEach([this](Call& call) {
      if (call.connection_ != nullptr) {
        call.connection_->failCall({ClientError::kShutdown, 0, ""});
      } else {
        fail(call, {ClientError::kShutdown, 0, ""});
      }
    });
  }
  for (const auto& [key, pool] : pools_) {
    while (!pool->connections.empty()) pool->connections.back()->close();
  }
  loop().cancel(*this);
}

// --- calls --------------------------------------------------------------------------------

const char* Client::faultOf(const Origin& origin, const Request& request) noexcept {
  if (!isToken(request.method)) return "malformed method";
  if (request.method == "CONNECT") return "CONNECT is not supported";
  if (!isTarget(request.target)) return "malformed target";
  if (!isFieldValue(request.host_field)) return "malformed Host";
  if (!request.upgrade.empty() && !isToken(request.upgrade)) return "malformed Upgrade";
  if (origin.unix_path.empty() && (origin.host.empty() || origin.port == 0)) return "no host or no port";
  if (request.body && request.streams_body) return "both a body and a stream of one";
  return faultOfFields(request.fields);
}

Call& Client::start(const Origin& origin, const Request& request, ResponseListener& listener) {
  if (counters_ != nullptr) counters_->calls.add();
  Call& call = calls_.emplace(*this, listener);
  call.times_.started_ns = loop().nowNs();
  const char* const fault = stopping_ ? "the client is being destroyed" : faultOf(origin, request);
  if (fault != nullptr) {
    deferFailure(call, {ClientError::kBadRequest, 0, fault});
    return call;
  }
  fill(call, origin, request);
  enqueue(call, false);
  return call;
}

void Client::fill(Call& call, const Origin& origin, const Request& request) {
  call.url_.origin = origin;
  call.url_.target = request.target;
  call.method_text_ = request.method;
  call.method_ = methodOf(request.method);
  call.host_field_ = request.host_field;
  call.fields_ = request.fields;
  call.upgrade_ = request.upgrade;
  call.body_ = request.body;
  call.streams_ = request.streams_body;
  call.content_length_ = call.left_ = request.content_length;
  call.expects_ = request.expects_continue && (call.streams_ || call.body_.size() > 0);
  call.closes_ = request.closes;
  call.max_redirects_ = request.max_redirects;
  call.timeouts_ = request.timeouts;
}

OriginPool* Client::poolFor(const Origin& origin) {
  const std::string key = origin.key();
  const auto found = pools_.find(key);
  if (found != pools_.end()) return found->second.get();
  if (pools_.size() >= options_.max_origins) {
    for (auto it = pools_.begin(); it != pools_.end();) it = it->second->unused() ? pools_.erase(it) : ++it;
  }
  if (pools_.size() >= options_.max_origins) return nullptr;
  return pools_.emplace(key, std::make_unique<OriginPool>(origin)).first->second.get();
}

void Client::enqueue(Call& call, bool first) {
  OriginPool* const pool = poolFor(call.url_.origin);
  if (pool == nullptr || (!first && pool->waiting_count >= options_.max_waiting)) {
    deferFailure(call,
                 {ClientError::kOverload, 0, pool == nullptr ? "too many origins" : "too many calls wait"});
    return;
  }
  call.pool_ = pool;
  (first ? *pool->waiting.next : pool->waiting).insertBefore(call);
  ++pool->waiting_count;
  if (counters_ != nullptr) counters_->waiting.add();
  call.connect_deadline_ns_ = loop().nowNs() + int64_t{call.timeouts_.connect_ms} * 1'000'000;
  pump(*pool);
  if (call.connection_ == nullptr) call.armTimer();
}

void Client::restart(Call& call) {
  call.times_.connected_ns = call.times_.first_byte_ns = 0;
  enqueue(call, false);
}

void Client::leaveQueue(Call& call) noexcept {
  if (!call.linked()) return;
  call.unlink();
  --call.pool_->waiting_count;
  if (counters_ != nullptr) counters_->waiting.sub();
  if (call.pool_->waiting_count == 0) call.pool_->starved.unlink();
}

ResponseListener& Client::release(Call& call) noexcept {
  ResponseListener& listener = *call.listener_;
  leaveQueue(call);
  calls_.erase(call.slot_);
  return listener;
}

void Client::fail(Call& call, const ClientFailure& failure) noexcept {
  if (counters_ != nullptr) counters_->failures[static_cast<size_t>(failure.error)]->add();
  release(call).onFailure(failure);
}

void Client::deferFailure(Call& call, const ClientFailure& failure) {
  deferred_.push_back({call.name(), failure});
  loop().armAt(*this, loop().nowNs());
}

void Client::deferBroken(ClientConnection& connection) {
  broken_.push_back(&connection);
  loop().armAt(*this, loop().nowNs());
}

void Client::deferWritable(Call& call) {
  writable_.push_back(call.name());
  loop().armAt(*this, loop().nowNs());
}

void Client::onTimer() noexcept {
  for (const CallName name : std::exchange(writable_, {})) {
    Call* const call = find(name);
    if (call == nullptr || !std::exchange(call->wants_room_, false)) continue;
    call->listener_->onWritable(*call);
  }
  for (const Deferred& one : std::exchange(deferred_, {})) {
    Call* const call = find(one.name);
    if (call == nullptr) continue;
    if (call->connection_ != nullptr) {
      call->connection_->failCall(one.failure);
    } else {
      fail(*call, one.failure);
    }
  }
  // One after the other, as what listeners do may end others of them.
  while (!broken_.empty()) {
    ClientConnection& connection = *broken_.back();
    OriginPool& pool = connection.pool();
    const ClientFailure why = connection.fault_;
    Call* const call = pool.waiting.linked() ? static_cast<Call*>(pool.waiting.next) : nullptr;
    if (call != nullptr) leaveQueue(*call);  // before others are connected for
    remove(connection);
    if (call != nullptr) fail(*call, why);
  }
}

OriginPool::OriginPool(Origin where) : origin(std::move(where)) {}

OriginPool::~OriginPool() = default;

// --- pools --------------------------------------------------------------------------------

Client::Stats Client::statsOf(const OriginPool& pool) noexcept {
  return {pool.connections.size(), pool.connecting_count, pool.idle_count, pool.waiting_count};
}

Client::Stats Client::stats() const noexcept {
  Stats all;
  for (const auto& [key, pool] : pools_) {
    const Stats one = statsOf(*pool);
    all.connections += one.connections;
    all.connecting += one.connecting;
    all.idle += one.idle;
    all.waiting += one.waiting;
  }
  return all;
}

// Sees to it that calls that wait get what connections there are, and new ones as far as the limits allow.
// What it does may need the same for other pools, which is done in turn.
void Client::pump(OriginPool& pool) noexcept {
  if (!pool.to_pump.linked()) to_pump_.insertBefore(pool.to_pump);
  if (std::exchange(pumping_, true)) return;
  while (to_pump_.linked()) {
    OriginPool& next = static_cast<OriginPool::Link&>(*to_pump_.next).owner;
    next.to_pump.unlink();
    while (pumpOne(next)) {
    }
  }
  pumping_ = false;
}

bool Client::pumpOne(OriginPool& pool) noexcept {
  if (stopping_ || !pool.waiting.linked()) return false;
  if (pool.idle.linked()) {  // the one used last
    ready(static_cast<ClientConnection::Link&>(*pool.idle.prev).owner);
    return true;
  }
  const bool enough = pool.connecting_count >= pool.waiting_count;
  if (enough || pool.connections.size() >= options_.max_per_origin) return false;
  if (connections_ >= options_.max_total && !makeRoom()) {
    if (!pool.starved.linked()) starved_.insertBefore(pool.starved);
    return false;
  }
  open(pool);
  return true;
}

// Closes the connection that has been idle longest, of whatever origin.
bool Client::makeRoom() noexcept {
  if (!idle_.linked()) return false;
  static_cast<ClientConnection::Link&>(*idle_.next).owner.close();
  return connections_ < options_.max_total;
}

void Client::open(OriginPool& pool) {
  if (counters_ != nullptr) {
    counters_->opened.add();
    counters_->connections.add();
  }
  pool.connections.push_back(std::make_unique<ClientConnection>(*this, pool));
  ClientConnection& connection = *pool.connections.back();
  connection.index_ = pool.connections.size() - 1;
  ++pool.connecting_count;
  ++connections_;
  connection.begin();
}

// A connection has nothing to do.
void Client::ready(ClientConnection& connection) noexcept {
  leaveIdle(connection);
  OriginPool& pool = connection.pool();
  if (connection.kept_ && pool.waiting.linked() && !connection.connection_->quiet()) {
    connection.close();  // what is there, or its end, is no answer to who waits
  } else if (pool.waiting.linked()) {
    Call& call = static_cast<Call&>(*pool.waiting.next);
    leaveQueue(call);
    attach(connection, call);
  } else if (stopping_ || starved_.linked() || pool.idle_count >= options_.max_idle_per_origin) {
    connection.close();
  } else {
    keepIdle(connection);
  }
}

void Client::attach(ClientConnection& connection, Call& call) noexcept {
  call.connection_ = &connection;
  call.on_kept_ = connection.kept_;
  call.times_.connected_ns = loop().nowNs();
  if (counters_ != nullptr && connection.kept_) counters_->reused.add();
  call.armTimer();
  connection.serve(call);
}

void Client::keepIdle(ClientConnection& connection) noexcept {
  OriginPool& pool = connection.pool();
  connection.kept_ = true;  // if it has served nobody, it may have ended unnoticed all the same
  pool.idle.insertBefore(connection.in_pool_);
  idle_.insertBefore(connection.in_client_);
  ++pool.idle_count;
  if (counters_ != nullptr) counters_->idle.add();
  uint32_t ms = options_.idle_timeout_ms;
  // A little before the server gives it up, so that no request crosses with its end.
  if (connection.keep_alive_s_ != 0) ms = std::min(ms, connection.keep_alive_s_ * 1000U - 500U);
  connection.connection_->setDeadline(ms);
}

void Client::leaveIdle(ClientConnection& connection) noexcept {
  if (!connection.in_pool_.linked()) return;
  connection.in_pool_.unlink();
  connection.in_client_.unlink();
  --connection.pool().idle_count;
  if (counters_ != nullptr) counters_->idle.sub();
}

void Client::closeIdle(OriginPool& pool) noexcept {
  while (pool.idle.linked()) static_cast<ClientConnection::Link&>(*pool.idle.next).owner.close();
}

void Client::remove(ClientConnection& connection) noexcept {
  OriginPool& pool = connection.pool();
  resolver_.cancel(connection);
  leaveIdle(connection);
  if (connection.connecting() || connection.state_ == ClientConnection::State::kBroken)
    --pool.connecting_count;
  connection.state_ = ClientConnection::State::kOver;
  broken_.erase(std::remove(broken_.begin(), broken_.end(), &connection), broken_.end());
  std::unique_ptr<ClientConnection>& place = pool.connections[connection.index_];
  std::unique_ptr<ClientConnection> gone = std::move(place);
  if (&place != &pool.connections.back()) {
    place = std::move(pool.connections.back());
    place->index_ = connection.index_;
  }
  pool.connections.pop_back();
  --connections_;
  if (counters_ != nullptr) counters_->connections.sub();
  loop().destroyLater(event::makeTask([connection_gone = std::move(gone)] {}));
  pump(pool);
  if (starved_.linked()) {
    OriginPool& next = static_cast<OriginPool::Link&>(*starved_.next).owner;
    next.starved.unlink();
    pump(next);
  }
}

// --- what heads are read into -------------------------------------------------------------

std::unique_ptr<ClientHeadSlot> Client::takeSlot() {
  if (slots_.empty()) return std::make_unique<ClientHeadSlot>();
  std::unique_ptr<ClientHeadSlot> slot = std::move(slots_.back());
  slots_.pop_back();
  slot->parser.reset();
  return slot;
}

void Client::giveSlot(std::unique_ptr<ClientHeadSlot> slot) noexcept {
  if (slots_.size() < kKeptSlots) slots_.push_back(std::move(slot));
}

}  // namespace roost::http::client
