#include "modules/mysql/row_stream.h"

#include <cstring>
#include <utility>
#include <vector>

#include "db/pool.h"
#include "event/loop.h"
#include "http/exchange.h"
#include "http/framed.h"

namespace roost::modules::mysql {
namespace {

// A client that takes nothing for this long loses its query: longer than a stall of a network, and shorter
// than the server waits for us (net_write_timeout, 60 s) before it ends the connection.
constexpr event::Nanos kMostBlocked = std::chrono::seconds(30);
// After so many pieces in one turn of the loop, its other connections come first: a millisecond's work.
constexpr unsigned kPiecesInTurn = 8;

// Strings that have been large enough for a piece, for the next answers of this thread.
class Pieces {
 public:
  static std::string take() {
    if (spare().empty()) {
      std::string made;
      made.reserve(RowStream::kPieceBytes + (RowStream::kPieceBytes >> 2));
      return made;
    }
    std::string taken = std::move(spare().back());
    spare().pop_back();
    return taken;
  }
  static void give(std::string&& piece) noexcept {
    if (piece.capacity() < RowStream::kPieceBytes || piece.capacity() > 4 * RowStream::kPieceBytes ||
        spare().size() == kMost)
      return;
    piece.clear();
    spare().push_back(std::move(piece));
  }

 private:
  static constexpr size_t kMost = 16;
  static std::vector<std::string>& spare() noexcept {
    thread_local std::vector<std::string> kept;
    return kept;
  }
};

}  // namespace

RowStream::RowStream(http::Exchange& exchange, db::Pool& pool, db::Work& reader) noexcept
    : exchange_(exchange),
      loop_(exchange.context().loop()),
      pool_(pool),
      reader_(reader),
      is_head_(exchange.isHead()) {}

RowStream::~RowStream() {
  loop_.cancel(*this);
  Pieces::give(std::move(text_));
}

void RowStream::reserve() {
  if (text_.capacity() < kPieceBytes) text_ = Pieces::take();
}

void RowStream::begin(http::ResponseHead& head) noexcept {
  begun_ = true;
  exchange_.begin(head, is_head_);
}

bool RowStream::sendPiece(db::Link& link) noexcept {
  if (is_head_) {
    pool_.cancel(reader_);
    return false;
  }
  link_ = &link;
  // Says that it is blocked as soon as anything waits, where copied bytes may gather.
  char* content = nullptr;
  const BufferRef piece = http::makeFramed(text_.size(), content);
  if (!piece) {
    exchange_.context().noteNoMemory();
    exchange_.abandon();
    return false;
  }
  std::memcpy(content, text_.data(), text_.size());
  const http::SendResult sent = exchange_.sendFramed(piece);
  text_.clear();
  if (sent == http::SendResult::kAccepted) return mayGoOn();
  if (sent == http::SendResult::kClosed) {
    stop();
    pool_.cancel(reader_);
    return false;
  }
  blocked_ = true;
  loop_.armIn(*this, kMostBlocked);
  return false;
}

// False: in the loop's next turn.
bool RowStream::mayGoOn() noexcept {
  if (std::exchange(turn_ns_, loop_.nowNs()) != loop_.nowNs()) pieces_ = 0;
  if (++pieces_ < kPiecesInTurn) return true;
  yields_ = true;
  loop_.armIn(*this, event::Nanos(0));
  return false;
}

void RowStream::onWritable() noexcept {
  if (!blocked_) return;
  blocked_ = false;
  loop_.cancel(*this);
  link_->resume();
}

void RowStream::onTimer() noexcept {
  if (yields_) {
    yields_ = false;
    return link_->resume();
  }
  pool_.cancel(reader_);
  exchange_.abandon();
}

void RowStream::stop() noexcept {
  loop_.cancel(*this);
  link_ = nullptr;
  blocked_ = yields_ = false;
}

void RowStream::finish() noexcept {
  exchange_.send(text_, true);
}

}  // namespace roost::modules::mysql
