#include "base/sip_hash.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace roost;

TEST_CASE("SipHash: the vectors of its reference", "[sip_hash]") {
  const SipKey key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
  std::string input;
  // SipHash-2-4 of the bytes 0, 1, 2, ...: lengths 0, 1, 7, 8, 15 and 63 of the paper's reference program.
  const auto upTo = [&input](size_t size) {
    while (input.size() < size) input += static_cast<char>(input.size());
    return std::string_view(input).substr(0, size);
  };
  CHECK(sipHash<2, 4>(key, upTo(0)) == 0x726fdb47dd0e0e31U);
  CHECK(sipHash<2, 4>(key, upTo(1)) == 0x74f839c593dc67fdU);
  CHECK(sipHash<2, 4>(key, upTo(15)) == 0xa129ca6149be45e5U);
}

TEST_CASE("SipHash: keys and inputs tell hashes apart", "[sip_hash]") {
  std::set<uint64_t> seen;
  std::string input;
  for (int size = 0; size < 64; ++size) {
    seen.insert(sipHash13(SipKey{1, 2}, input));
    seen.insert(sipHash13(SipKey{2, 1}, input));
    input += '\0';
  }
  CHECK(seen.size() == 128);
  const SipKey a = SipKey::random();
  const SipKey b = SipKey::random();
  CHECK((a.low != b.low || a.high != b.high));
}
