#include "http/h1/protocol.h"

#include <algorithm>

#include "base/memory.h"
#include "net/connection.h"

namespace roost::http::h1 {

Protocol::~Protocol() {
  while (idle_sessions_ != nullptr) delete &takeSession();
}

// REQUIRES: there is an idle one.
ServerSession& Protocol::takeSession() {
  ServerSession* session = idle_sessions_;
  idle_sessions_ = session->nextIdle();
  --idle_session_count_;
  return *session;
}

bool Protocol::giveBack(bool slots) noexcept {
  if (slots) idle_slots_.resize(idle_slots_.size() - low_slots_.look(idle_slots_.size(), SIZE_MAX));
  const size_t unused = low_sessions_.look(idle_session_count_, kMostFreed);
  for (size_t i = 0; i < unused; ++i) delete &takeSession();
  return unused == kMostFreed;
}

HeadSlot* Protocol::takeSlot() noexcept {
  const auto add = [this] { idle_slots_.push_back(std::make_unique<HeadSlot>()); };
  if (idle_slots_.empty() && !memory::forPeer(add)) return nullptr;
  HeadSlot* slot = idle_slots_.back().release();
  idle_slots_.pop_back();
  low_slots_.taken(idle_slots_.size());
  slot->parser.reset();
  slot->head.method = Method::kUnknown;
  slot->head_done_ns = 0;
  return slot;
}

void Protocol::giveSlot(HeadSlot& slot) noexcept {
  std::unique_ptr<HeadSlot> owned(&slot);
  if (slot.text != nullptr) {
    context_.io().chunks().give(slot.text);
    slot.text = nullptr;
  }
  if (idle_slots_.size() < kKeep) idle_slots_.push_back(std::move(owned));
}

void Protocol::release(ServerSession& session) noexcept {
  session.setNextIdle(idle_sessions_);
  idle_sessions_ = &session;
  ++idle_session_count_;
}

void Protocol::onConnected(net::Connection& connection) noexcept {
  connection.setDeadline(context_.service().options().head_timeout_ms);
}

void Protocol::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  const auto add = [this] { release(*new ServerSession(*this)); };
  if (idle_sessions_ == nullptr && !memory::forPeer(add)) return connection.failForMemory();
  ServerSession* session = &takeSession();
  low_sessions_.taken(idle_session_count_);
  session->attach(connection);
  session->onRead(connection, in);
}

void Protocol::onWriteBlocked(net::Connection& connection, size_t) noexcept {
  if (takesTooLittle(connection)) return cutSlowReader(connection);
  connection.setDeadline(context_.service().options().send_timeout_ms);
}

void Protocol::onWriteComplete(net::Connection& connection) noexcept {
  connection.setDeadline(context_.service().options().keep_alive_timeout_ms);
}

void Protocol::onTimeout(net::Connection& connection) noexcept {
  // A peer that takes nothing any more is cut off; an idle one is let go in peace.
  if (!connection.writing()) {
    connection.close();
  } else if (connection.writeProgressed()) {
    onWriteBlocked(connection, 0);
  } else {
    if (const HttpCounters* counters = context_.counters()) counters->timeouts.add();
    connection.reset();
  }
}

// Since when is told by the deadline that was set then.
uint32_t Protocol::idleMs(const net::Connection& connection) const noexcept {
  if (connection.writing() || connection.unreadBytes() > 0) return kBusy;
  const ServiceOptions& options = context_.service().options();
  const bool is_new = connection.requests() == 0;
  const uint32_t timeout_ms = is_new ? options.head_timeout_ms : options.keep_alive_timeout_ms;
  const uint32_t idle_ms = timeout_ms - std::min(timeout_ms, connection.deadlineLeftMs());
  return is_new && idle_ms < kFirstRequestMs ? kBusy : idle_ms;
}

bool Protocol::takesTooLittle(net::Connection& connection) const noexcept {
  const ServiceOptions& limits = context_.service().options();
  return limits.min_send_bytes_per_s != 0 &&
         !connection.takesEnough(limits.min_send_bytes_per_s, limits.min_rate_window_ms);
}

void Protocol::cutSlowReader(net::Connection& connection) noexcept {
  if (const HttpCounters* counters = context_.counters()) {
    counters->slow_readers.add();
    counters->timeouts.add();
  }
  connection.reset();
}

}  // namespace roost::http::h1
