#include "base/memory.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <string>

#include "base/buffer.h"
#include "support/no_memory.h"

namespace roost {
namespace {

// Fails that many times more.
int g_failures = 0;
void* failSometimes(size_t bytes) {
  return g_failures > 0 && g_failures-- > 0 ? nullptr : std::malloc(bytes);
}

TEST_CASE("memory: what a peer sizes fails, and nothing else", "[memory]") {
  const test::NoMemory none(1000);
  CHECK_FALSE(BufferRef::allocateForPeer(1000));
  CHECK_FALSE(BufferRef::copyForPeer(std::string(1000, 'x')));
  CHECK(BufferRef::copyForPeer("small").view() == "small");
  CHECK(BufferRef::allocateForPeer(0));
  CHECK_FALSE(memory::reserveInUse());
}

TEST_CASE("memory: what grows within forPeer fails alone", "[memory]") {
  std::string text = "before";
  CHECK(memory::forPeer([&] { text += " and after"; }));
  CHECK_FALSE(memory::forPeer([&] {
    text += ", cut";
    throw std::bad_alloc();
  }));
  CHECK(text == "before and after, cut");
  // Within another, the outer one goes on as before.
  CHECK_FALSE(memory::forPeer([] {
    CHECK_FALSE(memory::forPeer([] { throw std::bad_alloc(); }));
    CHECK(memory::detail::t_for_peer);
    throw std::bad_alloc();
  }));
  CHECK_FALSE(memory::detail::t_for_peer);
}

TEST_CASE("memory: the reserve serves what must be, and peers wait until it is whole", "[memory]") {
  memory::openReserve();
  memory::setSource(&failSometimes);
  CHECK_FALSE(memory::reserveInUse());
  g_failures = 1;
  CHECK_FALSE(memory::allocateForPeer(10));
  CHECK_FALSE(memory::reserveInUse());  // never for a peer
  g_failures = 2;
  void* const needed = memory::allocate(10);
  CHECK(needed != nullptr);
  std::free(needed);
  CHECK(memory::reserveInUse());
  CHECK_FALSE(memory::allocateForPeer(10));
  CHECK_FALSE(memory::forPeer([] {}));
  memory::refillReserve();
  CHECK_FALSE(memory::reserveInUse());
  CHECK(memory::forPeer([] {}));
  // It comes to an end.
  g_failures = 1000;
  CHECK(memory::allocate(10) == nullptr);
  CHECK(memory::reserveInUse());
  g_failures = 0;
  memory::refillReserve();
  CHECK_FALSE(memory::reserveInUse());
  memory::setSource(&std::malloc);
}

}  // namespace
}  // namespace roost
