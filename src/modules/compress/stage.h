#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "http/body_stage.h"
#include "http/exchange.h"
#include "modules/compress/encoder.h"

namespace roost::modules::compress {

// Codes one answer on its way to the client. Short answers are coded on the loop, at once, where the level is
// cheap; of others each piece goes to a task thread, one at a time, while the loop does something else. What
// waits to be coded is at most kMostWaiting and what the handler sends beyond that against kBlocked; of files
// only what is being coded is in memory. Content that comes bit by bit, of unknown length, reaches the client
// by the next turn of the loop. Owned by its exchange; loop thread.
class Stage final : public http::BodyStage {
 public:
  // Up to this much at a time is coded on the loop itself, by an encoder that is cheap; of others nothing.
  static constexpr size_t kInlineBytes = 16 << 10;
  static constexpr size_t kPieceBytes = 128 << 10;
  static constexpr size_t kMostWaiting = 256 << 10;

  // `cheap`: what isCheap() says of the encoder. `size`: of the content to come, -1: unknown. `live` is
  // counted up while the stage is; its loop's.
  Stage(http::Exchange& exchange, std::unique_ptr<Encoder> encoder, bool cheap, int64_t size,
        std::shared_ptr<size_t> live) noexcept;
  ~Stage() override;

  http::SendResult sendBytes(std::string_view copied, bool fin) noexcept override;
  http::SendResult sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept override;
  http::SendResult sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept override;
  void onWritable() noexcept override;

 private:
  // Content that waits: bytes, or a stretch of a file.
  struct Waiting {
    BufferRef bytes;
    net::OpenFile file;
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  // What travels to a task thread and back.
  struct Job {
    std::unique_ptr<Encoder> encoder;
    std::string in;
    std::string out;
    Flush flush = Flush::kNone;
    bool fine = true;
    void run() noexcept;
  };

  http::SendResult take(Waiting piece, bool fin) noexcept;
  void giveUp() noexcept;
  void step() noexcept;
  bool fillPiece(Job& job) noexcept;
  bool readFile(Waiting& piece, std::string& to, size_t size) noexcept;
  void flush() noexcept;
  void submit(std::unique_ptr<Job> job) noexcept;
  void finishJob(Job& job) noexcept;
  void flushLater() noexcept;
  void tellRoom() noexcept;

  http::Exchange& exchange_;
  const std::shared_ptr<size_t> live_;
  std::unique_ptr<Encoder> encoder_;  // nullptr while a job has it
  std::deque<Waiting> waiting_;
  uint64_t waiting_bytes_ = 0;  // in memory
  uint64_t size_left_;          // of what was announced
  const bool cheap_;
  const bool known_size_;
  bool fin_taken_ = false;
  bool over_ = false;  // the last has been handed on, or nothing more can be
  bool port_blocked_ = false;
  bool told_blocked_ = false;  // the sender waits
  bool flush_wanted_ = false;
  bool flush_posted_ = false;
};

}  // namespace roost::modules::compress
