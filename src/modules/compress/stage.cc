#include "modules/compress/stage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/memory.h"
#include "log/log.h"

namespace roost::modules::compress {

using http::SendResult;

Stage::Stage(http::Exchange& exchange, std::unique_ptr<Encoder> encoder, bool cheap, int64_t size,
             std::shared_ptr<size_t> live) noexcept
    : exchange_(exchange),
      live_(std::move(live)),
      encoder_(std::move(encoder)),
      size_left_(static_cast<uint64_t>(std::max<int64_t>(size, 0))),
      cheap_(cheap),
      known_size_(size >= 0) {
  ++*live_;
}

Stage::~Stage() {
  --*live_;
}

SendResult Stage::sendBytes(std::string_view copied, bool fin) noexcept {
  BufferRef bytes = BufferRef::copyForPeer(copied);
  if (!bytes) {
    giveUp();
    return SendResult::kClosed;
  }
  return take({std::move(bytes), {}, 0, copied.size()}, fin);
}

SendResult Stage::sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept {
  return take({std::move(buffer), {}, offset, size}, fin);
}

SendResult Stage::sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept {
  return take({{}, std::move(file), offset, size}, fin);
}

// Content beyond what was announced is cut off, as without a stage; an answer that ends short of it is broken
// off.
SendResult Stage::take(Waiting piece, bool fin) noexcept {
  if (over_ || fin_taken_) return SendResult::kClosed;
  fin_taken_ = fin;
  if (known_size_) {
    piece.size = std::min(piece.size, size_left_);
    size_left_ -= piece.size;
    if (fin && size_left_ > 0) {
      giveUp();
      return SendResult::kClosed;
    }
  }
  if (piece.size > 0) {
    if (!piece.file) waiting_bytes_ += piece.size;
    waiting_.push_back(std::move(piece));
    flush_wanted_ = !known_size_;
  }
  step();
  if (over_) return fin ? SendResult::kAccepted : SendResult::kClosed;
  told_blocked_ = !fin && (waiting_bytes_ > kMostWaiting || (!waiting_.empty() && waiting_.back().file));
  return told_blocked_ ? SendResult::kBlocked : SendResult::kAccepted;
}

void Stage::giveUp() noexcept {
  over_ = true;
  exchange_.abandon();
}

void Stage::Job::run() noexcept {
  fine = memory::forAnswer([this] { fine = encoder->encode(in, flush, out); }) && fine;
}

// Codes what waits, for as long as the loop may do it itself and the client takes it.
void Stage::step() noexcept {
  while (!over_ && encoder_ != nullptr && !port_blocked_) {
    if (waiting_.empty() && !fin_taken_) {
      if (flush_wanted_) flushLater();
      return;
    }
    auto job = std::make_unique<Job>();
    if (!fillPiece(*job)) return;
    const bool last = waiting_.empty() && fin_taken_;
    job->flush = last ? Flush::kEnd : Flush::kNone;
    job->encoder = std::move(encoder_);
    if (!cheap_ || job->in.size() > kInlineBytes) return submit(std::move(job));
    job->run();
    finishJob(*job);
  }
}

// Moves up to kPieceBytes of what waits into the job. False: the file cannot be read, the answer is broken
// off.
bool Stage::fillPiece(Job& job) noexcept {
  while (!waiting_.empty() && job.in.size() < kPieceBytes) {
    Waiting& piece = waiting_.front();
    const auto size = static_cast<size_t>(std::min<uint64_t>(piece.size, kPieceBytes - job.in.size()));
    if (piece.file) {
      if (!readFile(piece, job.in, size)) return false;
    } else {
      job.in.append(piece.bytes.data() + piece.offset, size);
      waiting_bytes_ -= size;
    }
    piece.offset += size;
    piece.size -= size;
    if (piece.size == 0) waiting_.pop_front();
  }
  return true;
}

// Who sends a file has seen to it that it is in memory, and its descriptor belongs to this thread.
bool Stage::readFile(Waiting& piece, std::string& to, size_t size) noexcept {
  const size_t had = to.size();
  to.resize(had + size);
  Sys& sys = exchange_.context().loop().sys();
  for (size_t done = 0; done < size;) {
    const auto offset = static_cast<int64_t>(piece.offset + done);
    const ssize_t n = sys.readAt(piece.file.fd(), to.data() + had + done, size - done, offset);
    if (n == -EINTR) continue;
    if (n <= 0) {
      LOG_EVERY_SECOND(WARN, "{}: the file has become shorter while it was sent", exchange_.path());
      giveUp();
      return false;
    }
    done += static_cast<size_t>(n);
  }
  return true;
}

// Hands the job to a task thread. The exchange may be over when it comes back: then the job is destroyed with
// what it carries. Where no thread takes it the loop does this piece, and others have their turn before the
// next.
void Stage::submit(std::unique_ptr<Job> job) noexcept {
  std::unique_ptr<event::Task> task =
      event::makeTask([carried = std::move(job), handle = exchange_.handle()]() mutable {
        carried->run();
        handle.post([done = std::move(carried)](http::Exchange& exchange) {
          auto& stage = static_cast<Stage&>(*exchange.bodyStage());
          stage.finishJob(*done);
          stage.step();
        });
      });
  if (!exchange_.context().tasks().submit(task)) task->run();
}

void Stage::finishJob(Job& job) noexcept {
  encoder_ = std::move(job.encoder);
  if (!job.fine) {
    LOG_EVERY_SECOND(ERROR, "{}: cannot be coded: out of memory?", exchange_.path());
    return giveUp();
  }
  const bool fin = job.flush == Flush::kEnd;
  over_ = fin;
  if (job.out.empty() && !fin) return tellRoom();
  constexpr size_t kCopied = 4096;
  http::StreamPort& port = exchange_.port();
  const size_t size = job.out.size();
  BufferRef bytes = size <= kCopied ? BufferRef() : BufferRef::copyForPeer(job.out);
  if (size > kCopied && !bytes) return giveUp();
  const SendResult result =
      size <= kCopied ? port.sendBytes(job.out, fin) : port.sendShared(std::move(bytes), 0, size, fin);
  if (fin) return;
  if (result == SendResult::kClosed) over_ = true;
  port_blocked_ = result == SendResult::kBlocked;
  if (!over_) tellRoom();
}

// The listener may end the exchange, which then has let go of this stage.
void Stage::tellRoom() noexcept {
  if (!told_blocked_ || port_blocked_ || !waiting_.empty()) return;
  told_blocked_ = false;
  exchange_.tellWritable();
  if (exchange_.bodyStage() != this) over_ = true;
}

void Stage::onWritable() noexcept {
  port_blocked_ = false;
  tellRoom();
  step();
}

// What has been sent so far must not wait for what is sent later.
void Stage::flushLater() noexcept {
  if (flush_posted_) return;
  flush_posted_ = true;
  exchange_.handle().post([](http::Exchange& exchange) {
    auto& stage = static_cast<Stage&>(*exchange.bodyStage());
    stage.flush_posted_ = false;
    stage.flush();
  });
}

void Stage::flush() noexcept {
  if (over_ || encoder_ == nullptr || !flush_wanted_ || port_blocked_) return;
  flush_wanted_ = false;
  auto job = std::make_unique<Job>();
  job->flush = Flush::kSync;
  job->encoder = std::move(encoder_);
  if (!cheap_) return submit(std::move(job));
  job->run();
  finishJob(*job);
  step();
}

}  // namespace roost::modules::compress
