#include "http/h1/protocol.h"

#include "net/connection.h"

namespace roost::http::h1 {

Protocol::~Protocol() = default;

HeadSlot& Protocol::takeSlot() {
  if (idle_slots_.empty()) idle_slots_.push_back(std::make_unique<HeadSlot>());
  HeadSlot* slot = idle_slots_.back().release();
  idle_slots_.pop_back();
  slot->parser.reset();
  slot->head.method = Method::kUnknown;
  return *slot;
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
  std::unique_ptr<ServerSession> owned(&session);
  if (idle_sessions_.size() < kKeep) {
    idle_sessions_.push_back(std::move(owned));
  } else {
    // It may be further up the stack.
    context_.loop().destroyLater(event::makeTask([gone = std::move(owned)] {}));
  }
}

void Protocol::onConnected(net::Connection& connection) noexcept {
  connection.setDeadline(context_.service().options().head_timeout_ms);
}

void Protocol::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  if (idle_sessions_.empty()) idle_sessions_.push_back(std::make_unique<ServerSession>(*this));
  ServerSession* session = idle_sessions_.back().release();
  idle_sessions_.pop_back();
  session->attach(connection);
  session->onRead(connection, in);
}

void Protocol::onWriteBlocked(net::Connection& connection, size_t) noexcept {
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
    connection.setDeadline(context_.service().options().send_timeout_ms);
  } else {
    if (const HttpCounters* counters = context_.counters()) counters->timeouts.add();
    connection.reset();
  }
}

}  // namespace roost::http::h1
