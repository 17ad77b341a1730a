#include "base/rate_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "base/sip_hash.h"

using namespace roost;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'000 * kSecond;

std::unique_ptr<RateTable> table(uint32_t requests, uint32_t per_s, uint32_t burst, uint64_t keys = 1000) {
  return std::move(RateTable::create({requests, per_s, burst}, keys)).value();
}

uint64_t key(uint64_t number) {
  return sipHash13(SipKey{7, 9}, {reinterpret_cast<const char*>(&number), sizeof number});
}

// The same in rational numbers and unbounded memory: a bucket of `burst` tokens per key.
class Model {
 public:
  Model(uint32_t requests, uint32_t per_s, uint32_t burst) : limit_{requests, per_s, burst} {}
  // The tokens of a key; below 1 none is given.
  double tokens(uint64_t of, int64_t now_ns) {
    Bucket& bucket = buckets_.try_emplace(of, Bucket{double(limit_.burst), now_ns}).first->second;
    const double rate = double(limit_.requests) / limit_.per_s / 1e9;
    bucket.tokens = std::min<double>(limit_.burst, bucket.tokens + double(now_ns - bucket.seen_ns) * rate);
    bucket.seen_ns = now_ns;
    return bucket.tokens;
  }
  void take(uint64_t of) { buckets_[of].tokens -= 1; }

 private:
  struct Bucket {
    double tokens;
    int64_t seen_ns;
  };
  const RateLimit limit_;
  std::map<uint64_t, Bucket> buckets_;
};

}  // namespace

TEST_CASE("rate table: a burst, then the plain rate", "[rate_table]") {
  const auto limits = table(10, 1, 5);
  int64_t now = kStart;
  for (uint32_t left = 5; left-- > 0;) {
    const auto decision = limits->take(key(1), now);
    CHECK(decision.admitted);
    CHECK(limits->left(decision) == left);
  }
  const auto refused = limits->take(key(1), now);
  CHECK_FALSE(refused.admitted);
  CHECK(limits->left(refused) == 0);
  CHECK(limits->retryAfterNs(refused) == Approx(kSecond / 10).epsilon(0.001));
  CHECK(limits->take(key(2), now).admitted);  // another key has its own
  now += limits->retryAfterNs(refused);
  CHECK(limits->take(key(1), now).admitted);
  CHECK_FALSE(limits->take(key(1), now).admitted);
}

TEST_CASE("rate table: being refused costs nothing", "[rate_table]") {
  const auto limits = table(1, 10, 1);
  CHECK(limits->take(key(1), kStart).admitted);
  for (int i = 1; i < 100; ++i) CHECK_FALSE(limits->take(key(1), kStart + i * kSecond / 10).admitted);
  CHECK(limits->take(key(1), kStart + 10 * kSecond + kSecond / 100).admitted);
}

TEST_CASE("rate table: agrees with a model without its economies", "[rate_table]") {
  struct Setting {
    uint32_t requests, per_s, burst;
  };
  const Setting settings[] = {{10, 1, 10},    {1, 1, 1},       {1, 60, 3},          {100, 60, 20},
                              {1000, 1, 500}, {7, 3600, 7},    {60000, 1, 1},       {333, 7, 11},
                              {1, 86400, 2},  {999999, 1, 10}, {1'000'000, 1, 1000}};
  std::mt19937_64 random(1);  // NOLINT: the same run every time
  for (const Setting& s : settings) {
    const auto limits = table(s.requests, s.per_s, s.burst);
    Model model(s.requests, s.per_s, s.burst);
    const double interval_ns = 1e9 * s.per_s / s.requests;
    int64_t now = kStart;
    uint64_t differ = 0;
    for (int i = 0; i < 20000; ++i) {
      // Sometimes all at once, sometimes about the rate, sometimes after a long pause.
      const double scale = random() % 50 == 0 ? 30.0 * s.burst : random() % 3 == 0 ? 0.0 : 0.7;
      now += static_cast<int64_t>(interval_ns * scale * double(random() % 1000) / 1000);
      const uint64_t of = random() % 3;
      const double tokens = model.tokens(of, now);
      const bool admitted = limits->take(key(of), now).admitted;
      if (admitted) model.take(of);
      // They may differ where the model is within a rounding of the edge.
      const double slack = 0.02 + 0.0005 * s.burst;
      if (admitted != (tokens >= 1) && (tokens < 1 - slack || tokens > 1 + slack)) ++differ;
    }
    INFO(s.requests << " per " << s.per_s << " s, burst " << s.burst);
    CHECK(differ == 0);
  }
}

TEST_CASE("rate table: what is admitted in the long run is the rate, within 0.1 %", "[rate_table]") {
  const RateLimit settings[] = {{1, 1, 1}, {3, 7, 2}, {997, 1, 50}, {61234, 1, 100}, {999983, 1, 1000}};
  for (const RateLimit& s : settings) {
    const auto limits = table(s.requests, s.per_s, s.burst);
    const int64_t step = int64_t{s.per_s} * kSecond / s.requests / 3 + 1;  // three times too often
    int64_t now = kStart;
    int admitted = 0;
    constexpr int kAsked = 60000;
    for (int i = 0; i < kAsked; ++i, now += step) admitted += limits->take(key(5), now).admitted ? 1 : 0;
    const double fair = double(now - kStart) / 1e9 * s.requests / s.per_s + s.burst;
    INFO(s.requests << " per " << s.per_s << " s");
    CHECK(admitted == Approx(fair).epsilon(0.001).margin(1.5));
  }
}

TEST_CASE("rate table: pacing spreads what is beyond the first few", "[rate_table]") {
  const auto limits = table(10, 1, 6);
  std::vector<int64_t> waits;
  for (int i = 0; i < 6; ++i) waits.push_back(limits->pacingNs(limits->take(key(1), kStart), 2) / 1'000'000);
  CHECK(waits == std::vector<int64_t>{0, 0, 99, 199, 299, 399});  // rounded down from 99.99...
}

TEST_CASE("rate table: clocks of loops may differ", "[rate_table]") {
  const auto limits = table(10, 1, 5);
  for (int i = 0; i < 5; ++i) CHECK(limits->take(key(1), kStart + 3 * kSecond).admitted);
  // A loop that is three seconds behind sees no fresh burst, only a longer wait.
  CHECK_FALSE(limits->take(key(1), kStart).admitted);
  CHECK_FALSE(limits->take(key(1), kStart + 3 * kSecond).admitted);
}

TEST_CASE("rate table: a full set forgets who owes least", "[rate_table]") {
  const auto limits = table(1, 1, 100, 1);  // one set of eight
  const int64_t now = kStart;
  for (uint64_t k = 0; k < 8; ++k) {
    for (uint64_t i = 0; i < 100 - k * 10; ++i) REQUIRE(limits->take(key(k), now).admitted);
  }
  CHECK_FALSE(limits->take(key(0), now).admitted);
  CHECK(limits->forgotten() == 0);
  for (uint64_t k = 100; k < 200; ++k) CHECK(limits->take(key(k), now).admitted);
  CHECK(limits->forgotten() == 100);
  CHECK_FALSE(limits->take(key(0), now).admitted);  // the heaviest are still known
  CHECK(limits->left(limits->take(key(1), now)) == 9);
}

TEST_CASE("rate table: an entry that owes nothing gives its place to others", "[rate_table]") {
  const auto limits = table(1, 1, 1, 1);
  int64_t now = kStart;
  for (uint64_t k = 0; k < 1000; ++k, now += 2 * kSecond) CHECK(limits->take(key(k), now).admitted);
  CHECK(limits->forgotten() == 0);
}

TEST_CASE("rate table: a million keys are told apart", "[rate_table]") {
  constexpr uint64_t kKeys = 1'000'000;
  const auto limits = table(1, 3600, 2, kKeys);
  CHECK(limits->bytes() == kKeys * 32);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t k = 0; k < kKeys; ++k) limits->take(key(k), kStart);
  }
  uint64_t admitted = 0;
  for (uint64_t k = 0; k < kKeys; ++k) admitted += limits->take(key(k), kStart).admitted ? 1 : 0;
  CHECK(admitted < kKeys / 1000);
}
