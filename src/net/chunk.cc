#include "net/chunk.h"

#include <cstdlib>
#include <new>

#include "base/memory.h"

namespace roost::net {
namespace {

Chunk* allocate(size_t capacity) noexcept {
  const size_t bytes = sizeof(Chunk) + capacity + Chunk::kSlack;
  void* memory = capacity <= ChunkPool::kHuge ? memory::allocate(bytes) : memory::allocateForPeer(bytes);
  if (memory == nullptr) return nullptr;
  auto* chunk = new (memory) Chunk;
  chunk->base = static_cast<char*>(memory) + sizeof(Chunk);
  chunk->capacity = static_cast<uint32_t>(capacity);
  std::memset(chunk->base + capacity, 0, Chunk::kSlack);
  return chunk;
}

}  // namespace

ChunkPool::~ChunkPool() {
  for (FreeList& list : free_) {
    while (list.count > 0) std::free(list.pop());
  }
}

Chunk* ChunkPool::FreeList::pop() noexcept {
  Chunk* chunk = top;
  top = chunk->next;
  --count;
  return chunk;
}

void ChunkPool::giveBack() noexcept {
  for (FreeList& list : free_) {
    for (size_t unused = list.low.look(list.count, SIZE_MAX); unused > 0; --unused) std::free(list.pop());
  }
}

Chunk* ChunkPool::take(size_t bytes) noexcept {
  for (size_t i = 0; i < kClasses; ++i) {
    if (bytes > kSizes[i]) continue;
    FreeList& list = free_[i];
    if (list.top == nullptr) return allocate(kSizes[i]);
    Chunk* chunk = list.pop();
    list.low.taken(list.count);
    chunk->next = nullptr;
    return chunk;
  }
  return allocate(bytes);
}

void ChunkPool::give(Chunk* chunk) noexcept {
  for (size_t i = 0; i < kClasses; ++i) {
    if (chunk->capacity != kSizes[i]) continue;
    FreeList& list = free_[i];
    if ((list.count + 1) * kSizes[i] > kKeepBytes) break;
    chunk->begin = chunk->end = 0;
    chunk->next = list.top;
    list.top = chunk;
    ++list.count;
    return;
  }
  std::free(chunk);
}

}  // namespace roost::net
