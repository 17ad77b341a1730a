#include "net/chunk.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

namespace roost::net {
namespace {

TEST_CASE("chunks: sizes, slack, reuse", "[chunk]") {
  ChunkPool pool;
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{1024}, size_t{1025}, size_t{65536}, size_t{65537}, size_t{1} << 20}) {
    Chunk* chunk = pool.take(bytes);
    CHECK(chunk->capacity >= bytes);
    CHECK(chunk->empty());
    CHECK(chunk->room() == chunk->capacity);
    // The slack is readable.
    unsigned sum = 0;
    for (size_t i = 0; i < Chunk::kSlack; ++i)
      sum += static_cast<unsigned char>(chunk->base[chunk->capacity + i]);
    CHECK(sum == 0);
    chunk->append("abc");
    chunk->consume(1);
    pool.give(chunk);
  }
  Chunk* small = pool.take(100);
  CHECK(small->size() == 0);  // what lay in it before is gone
  CHECK(small->next == nullptr);
  pool.give(small);
  CHECK(pool.take(1000) == small);
  pool.give(small);
}

TEST_CASE("chunks: no two holders share one", "[chunk]") {
  ChunkPool pool;
  std::vector<std::pair<Chunk*, std::string>> held;
  std::mt19937 random(3);
  for (int step = 0; step < 4000; ++step) {
    if (held.empty() || random() % 2 == 0) {
      const std::string text = std::to_string(step) + std::string(random() % 900, 'x');
      Chunk* chunk = pool.take(text.size() + (random() % 8 == 0 ? 70000 : 0));
      chunk->append(text);
      held.emplace_back(chunk, text);
    } else {
      const size_t i = random() % held.size();
      REQUIRE(std::string_view(held[i].first->data(), held[i].first->size()) == held[i].second);
      pool.give(held[i].first);
      held[i] = held.back();
      held.pop_back();
    }
  }
  for (const auto& [chunk, text] : held) pool.give(chunk);
}

}  // namespace
}  // namespace roost::net
