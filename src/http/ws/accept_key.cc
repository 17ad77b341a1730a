#include "http/ws/accept_key.h"

#include <cstring>

namespace roost::http::ws {
namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

constexpr uint32_t rotateLeft(uint32_t value, unsigned bits) noexcept {
  return value << bits | value >> (32 - bits);
}

// SHA-1 (RFC 3174) of a few bytes. The handshake proves with it that the server speaks the protocol; nothing
// is kept secret by it, and no library is worth needing for it.
class Sha1 {
 public:
  static std::array<uint8_t, 20> of(std::string_view text) noexcept {
    Sha1 sum;
    const uint64_t bits = text.size() * 8;
    uint8_t block[64];
    for (; text.size() >= sizeof block; text.remove_prefix(sizeof block)) {
      std::memcpy(block, text.data(), sizeof block);
      sum.add(block);
    }
    std::memset(block, 0, sizeof block);
    if (!text.empty()) std::memcpy(block, text.data(), text.size());
    block[text.size()] = 0x80;
    if (text.size() >= 56) {
      sum.add(block);
      std::memset(block, 0, sizeof block);
    }
    for (unsigned i = 0; i < 8; ++i) block[56 + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
    sum.add(block);
    std::array<uint8_t, 20> digest;
    for (unsigned i = 0; i < digest.size(); ++i)
      digest[i] = static_cast<uint8_t>(sum.state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
  }

 private:
  void add(const uint8_t (&block)[64]) noexcept {
    uint32_t w[80];
    for (unsigned i = 0; i < 16; ++i) {
      w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
             uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    }
    for (unsigned i = 16; i < 80; ++i) w[i] = rotateLeft(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4];
    for (unsigned i = 0; i < 80; ++i) {
      uint32_t f = b ^ c ^ d;
      if (i < 20) f = (b & c) | (~b & d);
      if (i >= 40 && i < 60) f = (b & c) | (b & d) | (c & d);
      constexpr uint32_t kRound[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
      const uint32_t next = rotateLeft(a, 5) + f + e + kRound[i / 20] + w[i];
      e = d;
      d = c;
      c = rotateLeft(b, 30);
      b = a;
      a = next;
    }
    state_[0] += a;
    state_[1] += b;
    state_[2] += c;
    state_[3] += d;
    state_[4] += e;
  }

  uint32_t state_[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

template <size_t kSize>
constexpr size_t kCodedSize = (kSize + 2) / 3 * 4;

template <size_t kSize>
std::array<char, kCodedSize<kSize>> base64Of(const std::array<uint8_t, kSize>& bytes) noexcept {
  std::array<char, kCodedSize<kSize>> out;
  for (size_t in = 0, at = 0; in < kSize; in += 3, at += 4) {
    const size_t left = kSize - in;
    const uint32_t group = uint32_t{bytes[in]} << 16 | (left > 1 ? uint32_t{bytes[in + 1]} << 8 : 0) |
                           (left > 2 ? bytes[in + 2] : 0);
    out[at] = kBase64[group >> 18];
    out[at + 1] = kBase64[group >> 12 & 63];
    out[at + 2] = left > 1 ? kBase64[group >> 6 & 63] : '=';
    out[at + 3] = left > 2 ? kBase64[group & 63] : '=';
  }
  return out;
}

}  // namespace

std::array<char, 28> acceptKey(std::string_view key) noexcept {
  char text[64 + kGuid.size()];
  const size_t size = key.size() < 64 ? key.size() : 64;  // no key is longer than 24
  std::memcpy(text, key.data(), size);
  std::memcpy(text + size, kGuid.data(), kGuid.size());
  return base64Of(Sha1::of({text, size + kGuid.size()}));
}

bool isKey(std::string_view key) noexcept {
  if (key.size() != 24 || key.substr(22) != "==") return false;
  for (const char c : key.substr(0, 22)) {
    if (c == '\0' || std::strchr(kBase64, c) == nullptr) return false;
  }
  return true;
}

std::array<char, 24> makeKey(uint64_t random_high, uint64_t random_low) noexcept {
  std::array<uint8_t, 16> bytes;
  std::memcpy(bytes.data(), &random_high, sizeof random_high);
  std::memcpy(bytes.data() + 8, &random_low, sizeof random_low);
  return base64Of(bytes);
}

}  // namespace roost::http::ws
