#include "modules/tcp_echo/working_echo.h"

#include <cassert>
#include <chrono>
#include <utility>

#include "event/loop.h"
#include "event/task_pool.h"
#include "net/connection.h"
#include "net/io_context.h"

namespace roost::modules::tcp_echo {
namespace {

constexpr std::chrono::milliseconds kAskAgain{1};

}  // namespace

WorkingEcho::~WorkingEcho() {
  context_.loop().cancel(*this);
  assert(sessions_.size() == 0);
}

net::Session& WorkingEcho::sessionFor(net::Connection& connection) noexcept {
  return sessions_.emplace(*this, connection);
}

void WorkingEcho::begin(Message message) noexcept {
  if (!waiting_.empty() || !submit(message)) waiting_.push_back(std::move(message));
  if (under_way_ == 0 && !armed()) context_.loop().armIn(*this, kAskAgain);
}

bool WorkingEcho::submit(Message& message) noexcept {
  auto task = std::make_shared<Message>(std::move(message));
  std::unique_ptr<event::Task> job =
      event::makeTask([this, work = work_, task, loop = &context_.loop(), pool = &context_.tasks()] {
        if (!pool->stopping()) doWork(work);  // the server's end waits for what is queued
        loop->post(event::makeTask([this, task] {
          --under_way_;
          submitWaiting();
          finish(*task);
        }));
      });
  if (!context_.tasks().submit(job)) {
    message = std::move(*task);
    return false;
  }
  ++under_way_;
  return true;
}

void WorkingEcho::submitWaiting() noexcept {
  while (!waiting_.empty() && submit(waiting_.front())) waiting_.pop_front();
}

// Nothing of this loop is under way that would come back and make room.
void WorkingEcho::onTimer() noexcept {
  submitWaiting();
  if (!waiting_.empty() && under_way_ == 0) context_.loop().armIn(*this, kAskAgain);
}

void WorkingEcho::finish(const Message& message) noexcept {
  if (Session* session = sessions_.find(message.name.slot, message.name.generation))
    session->answer(message.bytes);
}

void WorkingEcho::Session::touch() noexcept {
  if (echo_.idle_timeout_ms_ > 0) connection_.setDeadline(echo_.idle_timeout_ms_);
}

void WorkingEcho::Session::onConnected(net::Connection&) noexcept {
  touch();
}

void WorkingEcho::Session::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  if (busy_) return connection.pauseRead();
  std::string bytes(in.data(), in.size());
  in.consume(in.size());
  touch();
  if (echo_.work_.where == Work::Where::kLoop) {
    doWork(echo_.work_);
    connection.write(bytes);
    return;
  }
  busy_ = true;
  connection.pauseRead();
  if (echo_.work_.where == Work::Where::kTimer) {
    waiting_ = std::move(bytes);
    connection.context().loop().armIn(*this, std::chrono::microseconds(echo_.work_.us));
  } else {
    echo_.begin({{slot_, echo_.sessions_.generation(slot_)}, std::move(bytes)});
  }
}

void WorkingEcho::Session::onTimer() noexcept {
  answer(std::exchange(waiting_, {}));
}

// Writing may close the connection, and this is gone then; the connection itself lasts until the batch is
// over.
void WorkingEcho::Session::answer(const std::string& bytes) noexcept {
  net::Connection& connection = connection_;
  busy_ = false;
  touch();
  const bool ended = ended_;
  connection.write(bytes);
  if (ended) return connection.closeAfterWrite(false);
  connection.flush();
  if (connection.closed() || connection.writing()) return;  // onWriteComplete goes on
  connection.resumeRead();
  if (connection.unreadBytes() > 0) connection.offerInputSoon();
}

void WorkingEcho::Session::onReadEnd(net::Connection& connection) noexcept {
  if (busy_) {
    ended_ = true;
  } else {
    connection.closeAfterWrite(false);
  }
}

void WorkingEcho::Session::onWriteBlocked(net::Connection& connection, size_t) noexcept {
  connection.pauseRead();
}

void WorkingEcho::Session::onWriteComplete(net::Connection& connection) noexcept {
  touch();
  if (busy_) return;
  connection.resumeRead();
  if (connection.unreadBytes() > 0) connection.offerInputSoon();
}

void WorkingEcho::Session::onTimeout(net::Connection& connection) noexcept {
  if (busy_ || (connection.writing() && connection.writeProgressed())) {
    touch();
  } else {
    connection.close();
  }
}

void WorkingEcho::Session::onClose(net::Connection& connection) noexcept {
  connection.context().loop().cancel(*this);
  echo_.sessions_.erase(slot_);
}

}  // namespace roost::modules::tcp_echo
