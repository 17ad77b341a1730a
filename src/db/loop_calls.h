#pragma once

#include <cstdint>
#include <string_view>

#include "db/client.h"

#if ROOST_MARIADB_CLIENT
namespace roost::db {

// The calls of MariaDB's non-blocking interface on one connection, one at a time. Each runs on a stack of its
// own and comes back when it would wait: what is returned is what for (MYSQL_WAIT_...), 0 when it has ended.
// The loop's thread.
class LoopCalls {
 public:
  explicit LoopCalls(MysqlPtr mysql) noexcept : mysql_(std::move(mysql)) {}
  ~LoopCalls() { end(false); }
  LoopCalls(const LoopCalls&) = delete;
  LoopCalls& operator=(const LoopCalls&) = delete;

  // REQUIRES, of all: none is suspended. Texts and statements stay until the call has ended.
  int prepare(MYSQL_STMT* statement, std::string_view text) noexcept;
  int execute(MYSQL_STMT* statement) noexcept;
  int fetch(MYSQL_STMT* statement) noexcept;
  int nextResult(MYSQL_STMT* statement) noexcept;
  int close(MYSQL_STMT* statement) noexcept;
  int query(std::string_view text) noexcept;  // one without parameters and rows
  int carryOn() noexcept;                     // what it has waited for is there. REQUIRES: one is suspended

  bool suspended() const noexcept { return waits_for_ != 0; }
  int code() const noexcept { return code_; }  // what the call that has ended returned
  // A whole packet lies in the library's buffer: fetching it takes no system call.
  bool rowIsThere() const noexcept;
  // Whether rowIsThere() can know: not with a library other than this was compiled with, nor with
  // compression.
  bool seesBuffer() const noexcept;

  // Where the library has found the connection dead it has closed the socket: its number may be another's by
  // now.
  bool connected() const noexcept { return mysql_ != nullptr && mysql_->net.pvio != nullptr; }

  // Closes the connection without waiting for anything; statements only lose it. What is suspended comes to
  // its end by that, since it has things to free. `is_idle`: the server may be told.
  void end(bool is_idle) noexcept;
  MYSQL* mysql() const noexcept { return mysql_.get(); }  // nullptr after end()

 private:
  enum class Call : uint8_t { kPrepare, kExecute, kFetch, kNextResult, kClose, kQuery };
  int started(Call call, MYSQL_STMT* statement, int waits_for) noexcept;
  int again(int ready) noexcept;

  MysqlPtr mysql_;
  MYSQL_STMT* statement_ = nullptr;
  Call call_ = Call::kQuery;
  int waits_for_ = 0;
  int code_ = 0;
  my_bool flag_ = 0;  // the code of kClose
};

}  // namespace roost::db
#endif
