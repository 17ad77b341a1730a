#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "event/timer_queue.h"

namespace roost::db {
class Link;
class Pool;
class Work;
}  // namespace roost::db
namespace roost::event {
class Loop;
}
namespace roost::http {
class Exchange;
class ResponseHead;
}  // namespace roost::http

namespace roost::modules::mysql {

// The text of an answer while its rows come: what fits into one piece stays here, for an answer whose length
// is known; more goes out piece by piece, as fast as the client takes it, and while it takes none no row is
// asked for. A member of the Work that reads, which is the exchange's listener; loop thread.
class RowStream final : private event::Timer {
 public:
  static constexpr size_t kPieceBytes = 32 << 10;

  // All of them outlive it.
  RowStream(http::Exchange& exchange, db::Pool& pool, db::Work& reader) noexcept;
  ~RowStream();

  std::string& text() noexcept { return text_; }  // what has not been sent
  const std::string& text() const noexcept { return text_; }
  void reserve();  // room for a piece: rows are about to come
  bool isFull() const noexcept { return text_.size() >= kPieceBytes; }
  bool begun() const noexcept { return begun_; }  // the head has gone

  // The first piece is full: from here on the answer's length is not known. REQUIRES: !begun().
  void begin(http::ResponseHead& head) noexcept;
  // Sends what there is; REQUIRES: begun(), and that it is not empty. For onRow() to return. False: no more
  // rows for now, or no more at all, and then the reader is cancelled.
  bool sendPiece(db::Link& link) noexcept;
  // The listener's: the client has caught up.
  void onWritable() noexcept;
  // The rows have ended, one way or another: nothing is asked of the link any more.
  void stop() noexcept;
  // The last piece. REQUIRES: begun().
  void finish() noexcept;

 private:
  void onTimer() noexcept override;
  bool mayGoOn() noexcept;

  http::Exchange& exchange_;
  event::Loop& loop_;
  db::Pool& pool_;
  db::Work& reader_;
  db::Link* link_ = nullptr;  // that waits to go on
  std::string text_;
  const bool is_head_;  // the exchange is of the next request once this one's answer has ended
  bool begun_ = false;
  bool blocked_ = false;
  bool yields_ = false;   // until the timer
  unsigned pieces_ = 0;   // sent in this turn
  int64_t turn_ns_ = -1;  // when it began
};

}  // namespace roost::modules::mysql
