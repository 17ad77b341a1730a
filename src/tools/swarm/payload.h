#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::swarm {

// What messages are made of: a stretch of random bytes from which every message of every client is another
// window, so that an answer that belongs to another client or to an earlier message is seen to be wrong.
// Immutable after its making; any thread.
class Payload {
 public:
  explicit Payload(size_t message_bytes);
  // The message number `n` of client `client`.
  std::string_view message(uint32_t client, uint64_t n) const noexcept {
    return {bytes_.data() + offset(client, n), message_bytes_};
  }

 private:
  static constexpr size_t kWindows = 65536;
  static size_t offset(uint32_t client, uint64_t n) noexcept;

  size_t message_bytes_;
  std::string bytes_;
};

}  // namespace roost::swarm
