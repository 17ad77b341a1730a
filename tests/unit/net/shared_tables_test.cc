// The tables that loops share, used by several threads at once.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "base/count_table.h"
#include "base/rate_table.h"
#include "base/sip_hash.h"

using namespace roost;

namespace {

constexpr int kThreads = 4;

uint64_t key(uint64_t number) {
  return sipHash13(SipKey{1, 2}, {reinterpret_cast<const char*>(&number), sizeof number});
}

// Runs work(thread) on several threads that begin together.
void together(const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("one key over many threads is admitted exactly", "[threads][rate_table]") {
  constexpr int kAsked = 20000;  // of each thread, over 2 seconds of the table's time
  const auto limits = std::move(RateTable::create({1000, 1, 500}, 1000)).value();
  std::atomic<int> admitted{0};
  together([&](int) {
    int mine = 0;
    for (int i = 0; i < kAsked; ++i) {
      const int64_t now = 1'000'000'000'000 + i * int64_t{2'000'000'000 / kAsked};
      mine += limits->take(key(1), now).admitted ? 1 : 0;
    }
    admitted += mine;
  });
  CHECK(admitted == Approx(2000 + 500).epsilon(0.001).margin(kThreads));
}

TEST_CASE("new keys that many threads see at once get one burst", "[threads][rate_table]") {
  constexpr uint64_t kKeys = 20000;
  const auto limits = std::move(RateTable::create({1, 3600, 3}, kKeys)).value();
  std::atomic<uint64_t> admitted{0};
  together([&](int) {
    uint64_t mine = 0;
    for (uint64_t k = 0; k < kKeys; ++k) mine += limits->take(key(k), 1'000'000'000'000).admitted ? 1 : 0;
    admitted += mine;
  });
  CHECK(double(admitted) == Approx(double(3 * kKeys)).epsilon(0.005));
}

TEST_CASE("counts of many threads never pass the limit and end at none", "[threads][count_table]") {
  constexpr uint32_t kMax = 3;
  constexpr uint64_t kKeys = 4;
  const auto counts = std::move(CountTable::create(2)).value();  // a single set
  std::atomic<uint32_t> inside[kKeys]{};
  std::atomic<uint32_t> most{0};
  together([&](int t) {
    for (int i = 0; i < 20000; ++i) {
      const uint64_t k = static_cast<uint64_t>(i + t) % kKeys;
      if (counts->enter(key(k), kMax) != CountTable::Entry::kCounted) continue;
      const uint32_t now = ++inside[k];
      uint32_t seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      --inside[k];
      counts->leave(key(k));
    }
  });
  CHECK(most <= kMax);
  for (uint64_t k = 0; k < kKeys; ++k) CHECK(counts->count(key(k)) == 0);
}
