#include "net/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "log/log.h"
#include "net/io_context.h"

namespace roost::net {

void Session::onReadEnd(Connection& connection) noexcept {
  connection.closeAfterWrite(false);
}

void Session::onTimeout(Connection& connection) noexcept {
  connection.close();
}

Connection::Connection(uint32_t, IoContext& context, Transport& transport, int fd, const PeerAddr& peer,
                       uint16_t listener) noexcept
    : context_(context), transport_(&transport), fd_(fd), peer_(peer), listener_(listener) {}

uint32_t Connection::slot() const noexcept {
  return decltype(context_.connections_)::slotOf(*this);
}

// Begins to serve. A request has often arrived with the connection, so reading is tried before the poller is
// asked: a short connection may come and go without ever being known to epoll.
void Connection::start(bool connecting) noexcept {
  if (connecting) {
    set(kConnecting, true);
    session_->onConnecting(*this);
    if (!closed()) updatePoller();
    return;
  }
  session_->onConnected(*this);
  if (!closed()) flush();
  if (!closed() && !has(kReadPaused)) readReady();
  if (!closed()) updatePoller();
}

void Connection::onIo(uint32_t events) noexcept {
  if (closed()) return;
  if (has(kConnecting)) {
    finishConnect();
    return;
  }
  // What came before a failure is read before a write can find that out.
  const bool reads_first = (events & EPOLLIN) != 0 && (events & (EPOLLHUP | EPOLLERR)) != 0;
  if ((events & EPOLLOUT) != 0 && !reads_first) {
    set(kWantsWrite, false);
    flush();
    if (closed()) return;
  }
  if ((events & EPOLLRDHUP) != 0 && has(kWatchesEnd) && has(kReadPaused)) {
    set(kWatchesEnd, false);  // the poller would repeat it for ever
    session_->onPeerEnd(*this);
    if (closed()) return;
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    // Input that is about to be offered again is dealt with before more is read.
    if (has(kReadPaused) || has(kReadEnded) || has(kOffersSoon)) {
      // Both directions are gone, or the socket failed; the poller would repeat it for ever.
      if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
        const int error = context_.loop().sys().socketError(fd_);
        fail(error != 0 ? error : ECONNRESET);
        return;
      }
    } else {
      readReady();
      if (closed()) return;
    }
  }
  updatePoller();
}

void Connection::finishConnect() noexcept {
  const int error = context_.loop().sys().socketError(fd_);
  if (error != 0) {
    fail(error);
    return;
  }
  set(kConnecting, false);
  session_->onConnected(*this);
  if (closed()) return;
  flush();
  if (!closed()) updatePoller();
}

size_t Connection::readReady() noexcept {
  Chunk* chunk = in_;
  if (chunk == nullptr) {
    chunk = context_.scratch_;
    chunk->begin = chunk->end = 0;
  } else if (chunk->size() >= kMaxUnreadBytes) {
    fail(ENOBUFS);
    return 0;
  } else if (chunk->room() == 0) {
    Chunk* larger = context_.chunks().take(std::max<size_t>(chunk->size() * 2, ChunkPool::kMedium));
    if (larger == nullptr) {
      failForMemory();
      return 0;
    }
    larger->append({chunk->data(), chunk->size()});
    context_.chunks().give(chunk);
    chunk = in_ = larger;
  }
  const IoResult result = transport_->read(fd_, chunk->space(), chunk->room());
  switch (result.state) {
    case IoState::kDone:
      chunk->end += static_cast<uint32_t>(result.bytes);
      context_.grew(result.bytes);
      context_.countIn(*this, result.bytes);
      deliver(*chunk);
      return result.bytes;
    case IoState::kEof:
      endOfInput();
      break;
    case IoState::kError:
      fail(result.sys_errno);
      break;
    case IoState::kWantRead:
    case IoState::kWantWrite:
      break;
  }
  return 0;
}

void Connection::deliver(Chunk& in) noexcept {
  set(kInRead, true);
  session_->onRead(*this, in);
  set(kInRead, false);
  if (closed()) {
    if (&in == in_) context_.chunks().give(in_);
    in_ = nullptr;
    return;
  }
  keepRest(in);
  if (!closed()) flush();
}

// Moves what the session left out of the loop's scratch, or gives an emptied chunk back.
void Connection::keepRest(Chunk& in) noexcept {
  if (&in == in_) {
    if (!in.empty()) return;
    context_.chunks().give(in_);
    in_ = nullptr;
  } else if (!in.empty()) {
    in_ = context_.chunks().take(in.size() + in.size() / 2);
    if (in_ == nullptr) return failForMemory();
    in_->append({in.data(), in.size()});
  }
}

void Connection::offerInput() noexcept {
  if (closed() || has(kInRead)) return;
  set(kOffersSoon, false);
  if (has(kOutOfMemory)) return failForMemory();
  if (in_ != nullptr) {
    deliver(*in_);
  } else {
    flush();
  }
  if (!closed() && has(kReadEnded) && !has(kOffersSoon)) session_->onReadEnd(*this);
  if (!closed()) updatePoller();
}

void Connection::offerInputSoon() noexcept {
  if (closed() || has(kOffersSoon)) return;
  set(kOffersSoon, true);
  context_.offerSoon(*this);
}

void Connection::endOfInput() noexcept {
  set(kReadEnded, true);
  if (has(kOffersSoon)) return;  // what was read before the end comes first
  session_->onReadEnd(*this);
  if (!closed()) flush();
}

void Connection::write(std::string_view bytes) noexcept {
  if (closed() || bytes.empty()) return;
  context_.grew(bytes.size());
  afterQueueing(out_.addCopy(context_.out_pool_, bytes));
}

void Connection::write(BufferRef buffer, size_t offset, size_t size) noexcept {
  if (closed()) return;
  context_.grew(OutQueue::kSliceBytes + (buffer && buffer.useCount() == 1 ? buffer.size() : 0));
  afterQueueing(out_.addShared(context_.out_pool_, std::move(buffer), offset, size));
}

void Connection::writeFile(OpenFile file, uint64_t offset, uint64_t size) noexcept {
  if (closed()) return;
  context_.grew(OutQueue::kSliceBytes);
  afterQueueing(out_.addFile(context_.out_pool_, std::move(file), offset, size));
}

// Whoever writes does not expect the connection to end within that call. Until it ends nothing is sent: bytes
// are missing.
void Connection::afterQueueing(bool queued) noexcept {
  if (queued || has(kOutOfMemory)) return;
  set(kOutOfMemory, true);
  offerInputSoon();
}

void Connection::failForMemory() noexcept {
  if (context_.counters_ != nullptr) context_.counters_->no_memory.add();
  LOG_EVERY_SECOND(ERROR, "no memory for a connection client={}: it is closed", peer_.toString());
  fail(ENOMEM);
}

size_t Connection::writeNow(std::string_view bytes) noexcept {
  if (closed() || writing() || has(kConnecting) || has(kOutOfMemory)) return 0;
  const IoResult result = transport_->write(fd_, bytes.data(), bytes.size(), false);
  context_.countOut(*this, result.bytes);
  return result.bytes;
}

void Connection::sendNow(size_t turn_bytes) noexcept {
  if (closed() || has(kConnecting) || has(kWantsWrite) || has(kOutOfMemory) || out_.empty()) return;
  if (context_.turnBytes(*this) >= turn_bytes) return;
  size_t most = 0;
  sendTurn(most);
}

// Sends as much as the socket takes and the turn allows, which is `most`.
IoResult Connection::sendTurn(size_t& most) noexcept {
  size_t& turn_bytes = context_.turnBytes(*this);
  most = OutQueue::kTurnBytes - std::min(turn_bytes, OutQueue::kTurnBytes);
  IoResult result{IoState::kWantWrite, 0, 0};
  if (most > 0) result = out_.flush(context_.out_pool_, *transport_, fd_, most);
  turn_bytes += result.bytes;
  if (OutPace* pace = out_.pace()) pace->sent += result.bytes;
  context_.countOut(*this, result.bytes);
  return result;
}

void Connection::flush() noexcept {
  if (closed() || has(kInRead) || has(kConnecting) || has(kWantsWrite) || has(kOutOfMemory)) return;
  if (out_.empty()) {
    if (has(kCloseAfterWrite)) finishClose();
    return;
  }
  size_t most = 0;
  const IoResult result = sendTurn(most);
  switch (result.state) {
    case IoState::kDone:
      if (has(kCloseAfterWrite)) {
        finishClose();
      } else {
        session_->onWriteComplete(*this);
      }
      break;
    case IoState::kWantRead:
    case IoState::kWantWrite:
      set(kWantsWrite, true);
      if (result.bytes < most) out_.setUntaken(context_.loop().sys().outQueueBytes(fd_));
      session_->onWriteBlocked(*this, result.bytes);
      break;
    case IoState::kEof:  // what was promised cannot be sent
      tellShrunkFile();
      fail(EIO);
      return;
    case IoState::kError:
      fail(result.sys_errno);
      return;
  }
  if (!closed()) updatePoller();
}

void Connection::tellShrunkFile() const {
  const OutQueue::MissingRange missing = out_.missingRange();
  char link[40];
  *fmt::format_to(link, "/proc/thread-self/fd/{}", missing.fd) = '\0';
  char name[512];
  const ssize_t size = context_.loop().sys().readLink(link, name, sizeof name);
  LOG_EVERY_SECOND(
      WARN,
      "file shrank while it was being sent, connection closed file={} peer={} sent_to={} missing={}; "
      "replace files by renaming new ones over them",
      std::string_view(name, size > 0 ? static_cast<size_t>(size) : 0), peer_.toString(), missing.offset,
      missing.size);
}

bool Connection::writeProgressed() noexcept {
  if (closed()) return false;
  const int untaken = context_.loop().sys().outQueueBytes(fd_);
  return out_.setUntaken(untaken) != untaken;
}

bool Connection::takesEnough(uint32_t bytes_per_s, uint32_t window_ms) noexcept {
  OutPace* pace = out_.pace();
  if (closed() || pace == nullptr) return true;
  const int64_t now_ns = context_.loop().nowNs();
  const int64_t past_ms = (now_ns - pace->since_ns) / 1'000'000;
  const bool asked = pace->since_ns != 0;
  if (asked && past_ms < int64_t{window_ms}) return true;
  const int64_t taken = static_cast<int64_t>(pace->sent) + pace->untaken - out_.untaken();
  *pace = {now_ns, 0, out_.untaken()};
  return !asked || taken >= int64_t{bytes_per_s} * past_ms / 1000;
}

void Connection::resumeRead() noexcept {
  if (closed() || !has(kReadPaused)) return;
  set(kReadPaused, false);
  if (!has(kInRead)) updatePoller();
}

void Connection::watchEnd(bool on) noexcept {
  if (closed() || has(kWatchesEnd) == on) return;
  set(kWatchesEnd, on);
  if (on && has(kReadPaused) && !has(kInRead)) updatePoller();
}

size_t Connection::discardNow(size_t most) noexcept {
  if (closed() || has(kReadPaused) || has(kReadEnded)) return 0;
  const IoResult result = transport_->discard(fd_, most);
  context_.countIn(*this, result.bytes);
  return result.bytes;
}

bool Connection::quiet() noexcept {
  char byte;
  return !closed() && !has(kReadEnded) && in_ == nullptr &&
         transport_->read(fd_, &byte, 1).state == IoState::kWantRead;
}

void Connection::readRest() noexcept {
  set(kWantsWrite, true);  // so that no flush tries again
  if (in_ != nullptr && !has(kReadPaused)) deliver(*in_);
  for (size_t total = 0; total < kMaxUnreadBytes;) {
    if (closed() || has(kReadPaused) || has(kReadEnded)) return;
    const size_t bytes = readReady();
    if (bytes == 0) return;
    total += bytes;
  }
}

// Tells the poller what changed. A pause of reading is told only once bytes have arrived in spite of it,
// since most pauses end before that; onIo calls this after every event.
void Connection::updatePoller() noexcept {
  const bool reads = !has(kReadPaused) && !has(kReadEnded);
  const bool writes = has(kWantsWrite) || has(kConnecting);
  const bool ends = has(kWatchesEnd) && has(kReadPaused) && !has(kReadEnded);
  if (has(kInPoller) && reads == has(kPollsRead) && writes == has(kPollsWrite) && ends == has(kPollsEnd))
    return;
  const uint32_t events = (reads ? uint32_t{EPOLLIN} : 0U) | (writes ? uint32_t{EPOLLOUT} : 0U) |
                          (ends ? uint32_t{EPOLLRDHUP} : 0U);
  event::Loop& loop = context_.loop();
  const Status status = has(kInPoller) ? loop.modify(fd_, events, *this) : loop.add(fd_, events, *this);
  if (!status.ok()) {
    fail(status.sysErrno());
    return;
  }
  set(kInPoller, true);
  set(kPollsRead, reads);
  set(kPollsWrite, writes);
  set(kPollsEnd, ends);
}

void Connection::setDeadline(uint32_t ms) noexcept {
  if (!closed()) context_.setDeadline(*this, ms);
}

void Connection::clearDeadline() noexcept {
  context_.wheel_.remove(*this);
}

uint32_t Connection::deadlineLeftMs() const noexcept {
  const uint32_t now = context_.clockTick();
  return deadlineTick() > now ? (deadlineTick() - now) * IoContext::kTickMs : 0;
}

uint64_t Connection::reclaimableBytes() const noexcept {
  const uint64_t input = in_ == nullptr ? 0 : sizeof(Chunk) + in_->capacity + Chunk::kSlack;
  return out_.reclaimableBytes() + input + session_->heldBytes();
}

void Connection::closeAfterWrite(bool linger) noexcept {
  set(kCloseAfterWrite, true);
  if (linger) set(kLinger, true);
  flush();
}

void Connection::finishClose() noexcept {
  if (!has(kLinger) || has(kReadEnded) || context_.linger_ms_ == 0) {
    close();
    return;
  }
  // The session is done; from here the peer's bytes are read away until it ends or time is up.
  Session* session = session_;
  set(kCloseAfterWrite, false);
  set(kReadPaused, false);
  session_ = &context_.linger_;
  session->onClose(*this);
  context_.loop().sys().shutdownWrite(fd_);
  if (in_ != nullptr) in_->consume(in_->size());
  setDeadline(context_.linger_ms_);
  updatePoller();
}

void Connection::fail(int sys_errno) noexcept {
  if (closed()) return;
  session_->onError(*this, sys_errno);
  close();
}

void Connection::reset() noexcept {
  if (closed()) return;
  const linger hard{1, 0};
  context_.loop().sys().setSockOpt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close();
}

// Closing the fd also takes it from the poller. The slot is emptied after the batch, which may still name it.
void Connection::close() noexcept {
  if (closed()) return;
  set(kClosed, true);
  context_.loop().sys().closeFd(fd_);
  fd_ = -1;
  if (in_ != nullptr && !has(kInRead)) {
    context_.chunks().give(in_);
    in_ = nullptr;
  }
  context_.retire(*this);
  session_->onClose(*this);  // may ask what has not been sent
  out_.clear(context_.out_pool_);
}

}  // namespace roost::net
