#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "redis/reply.h"

struct redisReader;

namespace roost::redis {

// Bounds of one reply.
struct ReplyLimits {
  size_t max_bytes = size_t{64} << 20;  // on the wire
  size_t max_elements = 1'000'000;      // of all its arrays together
};

// Takes replies out of a stream of bytes, in whatever pieces they come: hiredis' reader, with limits and
// replies of our own. Owned by a connection; one thread.
class ReplyReader {
 public:
  explicit ReplyReader(const ReplyLimits& limits);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void feed(std::string_view bytes);
  // The next whole reply; nullptr when more bytes are needed, or nothing can be read any more (failed()).
  std::unique_ptr<Reply> next();
  bool failed() const noexcept { return error_ != nullptr; }
  // After a failure: what was wrong. Static, or the reader's own.
  const char* error() const noexcept { return error_; }
  // Ready for another connection.
  void reset();

 private:
  struct Functions;  // what hiredis calls
  struct Deleter {
    void operator()(redisReader* reader) const noexcept;
  };

  const ReplyLimits limits_;
  std::unique_ptr<redisReader, Deleter> reader_;
  size_t elements_ = 0;      // of the reply being read
  size_t fed_bytes_ = 0;     // since the last whole reply
  bool over_limit_ = false;  // an array was refused
  const char* error_ = nullptr;
};

}  // namespace roost::redis
