#include "db/loop_calls.h"

#if ROOST_MARIADB_CLIENT

#include <ma_pvio.h>
#include <sys/socket.h>

#include <utility>

namespace roost::db {

namespace {

constexpr int kUnwindCalls = 256;  // until a call whose socket is shut down has come to its end

// Whether the library loaded has the structures that this was compiled with.
bool sameLibrary() noexcept {
  static const bool same = mysql_get_client_version() == MARIADB_PACKAGE_VERSION_ID;
  return same;
}

}  // namespace

int LoopCalls::started(Call call, MYSQL_STMT* statement, int waits_for) noexcept {
  call_ = call;
  statement_ = statement;
  waits_for_ = waits_for;
  return waits_for;
}

int LoopCalls::prepare(MYSQL_STMT* statement, std::string_view text) noexcept {
  const int waits_for = mysql_stmt_prepare_start(&code_, statement, text.data(), text.size());
  return started(Call::kPrepare, statement, waits_for);
}

int LoopCalls::execute(MYSQL_STMT* statement) noexcept {
  return started(Call::kExecute, statement, mysql_stmt_execute_start(&code_, statement));
}

int LoopCalls::fetch(MYSQL_STMT* statement) noexcept {
  if (!rowIsThere()) return started(Call::kFetch, statement, mysql_stmt_fetch_start(&code_, statement));
  code_ = mysql_stmt_fetch(statement);  // no need of the other stack
  return 0;
}

int LoopCalls::nextResult(MYSQL_STMT* statement) noexcept {
  return started(Call::kNextResult, statement, mysql_stmt_next_result_start(&code_, statement));
}

int LoopCalls::close(MYSQL_STMT* statement) noexcept {
  return started(Call::kClose, statement, mysql_stmt_close_start(&flag_, statement));
}

int LoopCalls::query(std::string_view text) noexcept {
  return started(Call::kQuery, nullptr,
                 mysql_real_query_start(&code_, mysql_.get(), text.data(), text.size()));
}

int LoopCalls::again(int ready) noexcept {
  switch (call_) {
    case Call::kPrepare:
      return mysql_stmt_prepare_cont(&code_, statement_, ready);
    case Call::kExecute:
      return mysql_stmt_execute_cont(&code_, statement_, ready);
    case Call::kFetch:
      return mysql_stmt_fetch_cont(&code_, statement_, ready);
    case Call::kNextResult:
      return mysql_stmt_next_result_cont(&code_, statement_, ready);
    case Call::kClose:
      return mysql_stmt_close_cont(&flag_, statement_, ready);
    case Call::kQuery:
      break;
  }
  return mysql_real_query_cont(&code_, mysql_.get(), ready);
}

int LoopCalls::carryOn() noexcept {
  waits_for_ = again(waits_for_ & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE));
  return waits_for_;
}

bool LoopCalls::seesBuffer() const noexcept {
  const MARIADB_PVIO* pvio = mysql_->net.pvio;
  return sameLibrary() && pvio != nullptr && pvio->cache != nullptr && !mysql_->net.compress;
}

bool LoopCalls::rowIsThere() const noexcept {
  if (!seesBuffer()) return false;
  const MARIADB_PVIO* pvio = mysql_->net.pvio;
  if (pvio->cache_pos < pvio->cache || pvio->cache_size > PVIO_READ_AHEAD_CACHE_SIZE) return false;
  const ptrdiff_t left = pvio->cache + pvio->cache_size - pvio->cache_pos;
  if (left < 4) return false;
  const int size = pvio->cache_pos[0] | pvio->cache_pos[1] << 8 | pvio->cache_pos[2] << 16;
  return size < 0xffffff && left >= 4 + size;
}

void LoopCalls::end(bool is_idle) noexcept {
  if (mysql_ == nullptr) return;
  if (!is_idle && connected()) ::shutdown(mysql_get_socket(mysql_.get()), SHUT_RDWR);
  for (int i = 0; i < kUnwindCalls && suspended(); ++i) carryOn();
  waits_for_ = 0;
  mysql_.reset();
}

}  // namespace roost::db

#endif
