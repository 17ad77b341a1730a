#include "base/buffer.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace roost {
namespace {

TEST_CASE("buffer: copies share, moves hand over", "[buffer]") {
  BufferRef empty;
  CHECK_FALSE(empty);
  CHECK(empty.size() == 0);
  CHECK(empty.view().empty());
  BufferRef a = BufferRef::copyOf("hello");
  BufferRef b = a;
  CHECK(a.data() == b.data());
  BufferRef c = std::move(a);
  CHECK_FALSE(a);  // NOLINT: what a moved-from reference is, is part of its contract
  CHECK(c.view() == "hello");
  b = BufferRef();
  CHECK(c.view() == "hello");
  c = *&c;
  CHECK(c.view() == "hello");
  CHECK(BufferRef::copyOf("").size() == 0);
}

TEST_CASE("buffer: a block counts in an account until it is freed, once", "[buffer]") {
  std::atomic<int64_t> account{0};
  BufferRef().countIn(account);
  {
    BufferRef a = BufferRef::copyOf("hello");
    a.countIn(account);
    const BufferRef b = a;
    b.countIn(account);
    CHECK(account == 5);
    a = BufferRef();
    CHECK(account == 5);
  }
  CHECK(account == 0);
}

TEST_CASE("buffer: references of several threads", "[buffer]") {
  for (int round = 0; round < 50; ++round) {
    BufferRef shared = BufferRef::copyOf("shared by all");
    std::vector<std::thread> threads;
    std::vector<int> same(4, 0);
    for (size_t i = 0; i < same.size(); ++i) {
      threads.emplace_back([mine = shared, &ok = same[i]] {
        for (int n = 0; n < 100; ++n) {
          const BufferRef copy = mine;
          ok += copy.view() == "shared by all" ? 1 : 0;
        }
      });
    }
    shared = BufferRef();
    for (std::thread& thread : threads) thread.join();
    REQUIRE(same == std::vector<int>(4, 100));
  }
}

}  // namespace
}  // namespace roost
