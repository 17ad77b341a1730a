#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/low_water.h"

namespace roost::net {

// A piece of memory that bytes are read into or gathered in, borrowed from a loop's ChunkPool. [begin, end)
// is what it holds. At least kSlack readable bytes lie behind the capacity, so that parsers may scan past the
// end in whole words.
struct Chunk {
  static constexpr size_t kSlack = 64;

  Chunk* next = nullptr;  // the holder's
  char* base = nullptr;
  uint32_t capacity = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  const char* data() const noexcept { return base + begin; }
  char* mutableData() noexcept { return base + begin; }
  size_t size() const noexcept { return end - begin; }
  bool empty() const noexcept { return begin == end; }
  char* space() noexcept { return base + end; }
  size_t room() const noexcept { return capacity - end; }
  void consume(size_t bytes) noexcept { begin += static_cast<uint32_t>(bytes); }  // REQUIRES: bytes <= size()
  // REQUIRES: bytes.size() <= room().
  void append(std::string_view bytes) noexcept {
    std::memcpy(space(), bytes.data(), bytes.size());
    end += static_cast<uint32_t>(bytes.size());
  }
};

// Chunks of a few sizes, kept on free lists between uses. What lies free is bounded; more goes back to the
// system. Owned by a loop's IoContext, loop thread only.
class ChunkPool {
 public:
  static constexpr uint32_t kSmall = 1024;
  static constexpr uint32_t kMedium = 4096;
  static constexpr uint32_t kLarge = 16384;
  static constexpr uint32_t kHuge = 65536;  // what a read asks for

  ChunkPool() noexcept = default;
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  // An empty chunk of at least `bytes`; beyond kHuge it is made to measure. nullptr when memory is
  // out.
  Chunk* take(size_t bytes) noexcept;
  void give(Chunk* chunk) noexcept;
  // Frees the chunks that nobody has needed since the last call.
  void giveBack() noexcept;

 private:
  static constexpr uint32_t kSizes[] = {kSmall, kMedium, kLarge, kHuge};
  static constexpr size_t kClasses = 4;
  static constexpr size_t kKeepBytes = 512 * 1024;  // per class
  struct FreeList {
    Chunk* top = nullptr;
    size_t count = 0;
    LowWater low;
    Chunk* pop() noexcept;  // REQUIRES: count > 0
  };
  FreeList free_[kClasses];
};

}  // namespace roost::net
