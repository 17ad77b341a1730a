#include "net/io_context.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/memory.h"
#include "log/log.h"

namespace roost::net {
namespace {

constexpr int64_t kTickNs = int64_t{IoContext::kTickMs} * 1'000'000;

}  // namespace

IoContext::IoContext(event::Loop& loop) noexcept
    : loop_(loop),
      out_pool_(chunks_),
      plain_(loop.sys()),
      wheel_(&IoContext::onExpired),
      start_ns_(loop.nowNs()),
      scratch_(chunks_.take(ChunkPool::kHuge)) {
  loop_.setAfterBatch(this);
}

IoContext::~IoContext() {
  closeAll();
  loop_.setAfterBatch(nullptr);
  loop_.cancel(*this);
  chunks_.give(scratch_);
}

void IoContext::closeAll() noexcept {
  connections_.forEach([](Connection& connection) { connection.close(); });
  IoContext::run();
}

void IoContext::setFactory(uint16_t index, SessionFactory& factory) {
  if (factories_.size() <= index) factories_.resize(index + size_t{1}, nullptr);
  factories_[index] = &factory;
}

// nullptr when memory is out.
Connection* IoContext::open(int fd, const PeerAddr& peer, uint16_t listener) noexcept {
  Connection* opened = nullptr;
  const bool has_room = memory::forPeer([&] {
    opened = &connections_.emplace(*this, plain_, fd, peer, listener);
    const size_t slots = size_t{opened->slot()} + 1;
    if (address_limit_ != nullptr && address_hashes_.size() < slots) address_hashes_.resize(slots, 0);
  });
  if (has_room) return opened;
  if (opened != nullptr) connections_.erase(opened->slot());
  return nullptr;
}

void IoContext::giveBack() noexcept {
  chunks_.giveBack();
  out_pool_.giveBack();
  shrinkAddressHashes();
}

// Only where that moves little: many connections may go on needing theirs.
void IoContext::shrinkAddressHashes() noexcept {
  constexpr size_t kMostMoved = 64 << 10;
  const size_t needed = std::min<size_t>(connections_.slotLimit(), address_hashes_.size());
  if (needed > kMostMoved || address_hashes_.capacity() < 4 * needed + 1024) return;
  address_hashes_.resize(needed);
  address_hashes_.shrink_to_fit();
}

void IoContext::refuseForMemory(const AcceptedSocket& socket) noexcept {
  if (counters_ != nullptr) counters_->no_memory.add();
  LOG_EVERY_SECOND(ERROR, "no memory for a new connection client={}: it is closed", socket.peer.toString());
  loop_.sys().closeFd(socket.fd);
  if (address_limit_ != nullptr && socket.address_hash != 0) address_limit_->leave(socket.address_hash);
  countClosed(false);
}

void IoContext::countClosed(bool was_opened) noexcept {
  closed_.store(closed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (counters_ != nullptr && was_opened) counters_->closed.add();
}

void IoContext::adopt(const AcceptedSocket& socket) noexcept {
  Connection* const opened = open(socket.fd, socket.peer, socket.listener);
  if (opened == nullptr) return refuseForMemory(socket);
  if (counters_ != nullptr) counters_->opened.add();
  Connection& connection = *opened;
  connection.set(Connection::kAccepted, true);
  grew(sizeof(Connection));
  if (address_limit_ != nullptr) address_hashes_[connection.slot()] = socket.address_hash;
  connection.setSession(factories_[socket.listener]->sessionFor(connection));
  // It may have connected after this batch began, and is read from at once.
  loop_.askFirst();
  connection.start(false);
}

Status IoContext::bindLocal(int fd, const SocketAddress& local) noexcept {
  Sys& sys = loop_.sys();
  if (local.family() != AF_UNIX && local.port() == 0) {
    const int on = 1;
    sys.setSockOpt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  }
  const int rc = sys.bindTo(fd, local.get(), local.size());
  return rc < 0 ? Status::fromErrno(-rc, "bind to " + local.toString()) : Status{};
}

Status IoContext::connect(const SocketAddress& address, Session& session,
                          const SocketAddress* local) noexcept {
  Sys& sys = loop_.sys();
  const int fd = sys.socketCreate(address.family(), SOCK_STREAM, 0);
  if (fd < 0) return Status::fromErrno(-fd, "socket");
  if (address.family() != AF_UNIX) {
    const int on = 1;
    sys.setSockOpt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (local != nullptr) {
    Status bound = bindLocal(fd, *local);
    if (!bound.ok()) {
      sys.closeFd(fd);
      return bound;
    }
  }
  const int rc = sys.connectTo(fd, address.get(), address.size());
  if (rc < 0 && rc != -EINPROGRESS) {
    sys.closeFd(fd);
    return Status::fromErrno(-rc, "connect to " + address.toString());
  }
  Connection* connection = open(fd, PeerAddr::from(address.get(), address.size()), 0);
  if (connection == nullptr) {
    sys.closeFd(fd);
    return Status::fromErrno(ENOMEM, "connect to " + address.toString());
  }
  connection->setSession(session);
  // Even where it stands at once: the session hears of it from the loop, never from within this call, and no
  // read may begin while another connection's bytes lie in the shared scratch.
  connection->start(true);
  return {};
}

uint32_t IoContext::clockTick() const noexcept {
  return static_cast<uint32_t>((loop_.nowNs() - start_ns_) / kTickNs);
}

void IoContext::setDeadline(Connection& connection, uint32_t ms) noexcept {
  if (wheel_.size() == 0) {
    wheel_.advance(clockTick());
    loop_.armIn(*this, std::chrono::nanoseconds(kTickNs));
  }
  // Rounded up, and one tick more because the current one has begun already: never early.
  wheel_.set(connection, clockTick() + (ms + kTickMs - 1) / kTickMs + 1);
}

void IoContext::onTimer() noexcept {
  wheel_.advance(clockTick());
  if (wheel_.size() > 0) loop_.armIn(*this, std::chrono::nanoseconds(kTickNs));
}

void IoContext::onExpired(event::WheelNode& node) noexcept {
  auto& connection = static_cast<Connection&>(node);
  connection.session_->onTimeout(connection);
}

void IoContext::retire(Connection& connection) noexcept {
  wheel_.remove(connection);
  retired_.push_back(connection.slot());
  if (!connection.has(Connection::kAccepted)) return;
  if (address_limit_ != nullptr) leaveAddress(connection.slot());
  countClosed(true);
}

void IoContext::leaveAddress(uint32_t slot) noexcept {
  const uint64_t hash = std::exchange(address_hashes_[slot], 0);
  if (hash != 0) address_limit_->leave(hash);
}

void IoContext::offerSoon(const Connection& connection) noexcept {
  offers_.push_back({connection.slot(), generation(connection)});
  loop_.skipWait();
}

// Whoever asks again from within this waits for the next batch.
void IoContext::run() noexcept {
  under_way_.swap(offers_);
  for (const Name name : under_way_) {
    Connection* connection = find(name.slot, name.generation);
    if (connection != nullptr && connection->has(Connection::kOffersSoon)) connection->offerInput();
  }
  under_way_.clear();
  turn_of_ = nullptr;
  for (const uint32_t slot : retired_) connections_.erase(slot);
  retired_.clear();
  for (void* cell : retired_cells_) ::operator delete(cell);
  retired_cells_.clear();
  if (growth_listener_ == nullptr || grown_bytes_ < growth_step_) return;
  grown_bytes_ = 0;
  growth_listener_->onGrowth();
}

void IoContext::LingerSession::onRead(Connection&, Chunk& in) noexcept {
  in.consume(in.size());
}

void IoContext::LingerSession::onReadEnd(Connection& connection) noexcept {
  connection.close();
}

}  // namespace roost::net
