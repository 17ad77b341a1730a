#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "db/client.h"
#include "db/loop_calls.h"
#include "db/prepared.h"
#include "db/statement_cache.h"
#include "db/wire.h"
#include "event/io_handler.h"
#include "event/loop.h"
#include "event/task.h"
#include "event/timer_queue.h"

#if ROOST_MARIADB_CLIENT
namespace roost::db {

// The connection itself; outlives its LoopWire until the batch of events is over. Every call of the library
// that may wait is started, and continued when the socket is ready; between two of them nothing is on the
// library's side stack.
class LoopCore final : public event::Task, public event::IoHandler, public event::Timer {
 public:
  LoopCore(event::Loop& loop, Session session, size_t max_statements)
      : loop_(loop),
        max_packet_bytes_(session.max_packet_bytes),
        server_(std::move(session.server)),
        calls_(std::move(session.mysql)),
        fd_(mysql_get_socket(calls_.mysql())),
        thread_id_(mysql_thread_id(calls_.mysql())),
        is_tls_(mysql_get_ssl_cipher(calls_.mysql()) != nullptr),
        begins_plainly_(!isMariaDb(calls_.mysql())),
        statements_(max_statements) {}
  ~LoopCore() override { close(); }

  void run() noexcept override {}  // a Task only to be destroyed later

  void setListener(WireListener& listener) noexcept {
    listener_ = &listener;
    if (step_ == Step::kIdle) watch(EPOLLIN);
  }
  void execute(const Statement& statement) noexcept;
  void resume() noexcept;
  bool alive() noexcept;
  void close() noexcept;

  bool inTransaction() const noexcept { return in_transaction_; }
  uint64_t threadId() const noexcept { return thread_id_; }
  const ServerPlace& server() const noexcept { return server_; }
  uint64_t prepares() const noexcept { return prepares_; }
  event::Loop& loop() const noexcept { return loop_; }

 private:
  enum class Step : uint8_t {
    kIdle,
    kClose,    // doomed_, a statement that has to go
    kPrepare,  // fresh_
    kExecute,  // current_, as the rest
    kPlain,    // a text that cannot be prepared
    kFetch,
    kPaused,   // the listener wants no more rows for now
    kYielded,  // others have their turn
    kNextResult,
    kSkip,  // rows of a further result
    kDead,
  };

  void onIo(uint32_t events) noexcept override;
  void onTimer() noexcept override;

  int start() noexcept;
  void go(bool waited) noexcept;
  void take() noexcept;
  bool callable() const noexcept;

  void begin() noexcept;
  void beginPrepare() noexcept;
  void onPrepared() noexcept;
  void onExecuted() noexcept;
  void onPlain() noexcept;
  void onFetched() noexcept;
  void onRow() noexcept;
  void nextResult() noexcept;
  void finish() noexcept;
  void fail() noexcept;
  void fail(const Error& error) noexcept;
  void drop(std::unique_ptr<Prepared> prepared) noexcept;
  bool tryAgain(uint32_t number) noexcept;

  void watch(uint32_t events) noexcept;
  void unwatch() noexcept;

  event::Loop& loop_;
  const size_t max_packet_bytes_;
  const ServerPlace server_;
  LoopCalls calls_;
  const int fd_;
  const uint64_t thread_id_;
  const bool is_tls_;
  const bool begins_plainly_;
  WireListener* listener_ = nullptr;
  StatementCache statements_;

  Step step_ = Step::kIdle;
  bool going_ = false;  // go() is on the stack
  bool retried_ = false;
  bool has_several_ = false;  // results
  bool closed_ = false;
  bool in_transaction_ = false;
  uint32_t watched_ = 0;  // epoll's events; 0: the socket is not in the loop
  int reads_ = 0;         // in this turn
  uint64_t rows_ = 0;
  uint64_t prepares_ = 0;

  const Statement* statement_ = nullptr;
  Prepared* current_ = nullptr;
  std::unique_ptr<Prepared> fresh_;
  std::unique_ptr<Prepared> retired_;  // to be closed before the next one is executed
  MYSQL_STMT* doomed_ = nullptr;
};

}  // namespace roost::db
#endif
