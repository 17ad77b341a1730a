#include "net/proxy_protocol.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace roost::net {
namespace {

constexpr std::string_view kV1Start = "PROXY";
constexpr std::string_view kV2Start("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr uint8_t kTlvCrc32c = 0x03;

ProxyHeader failed(const char* why) noexcept {
  ProxyHeader header;
  header.state = ProxyHeader::State::kError;
  header.error = why;
  return header;
}

// Whether `bytes`, as far as they go, begin as `start` does.
bool mayBegin(std::string_view bytes, std::string_view start) noexcept {
  const size_t size = std::min(bytes.size(), start.size());
  return bytes.substr(0, size) == start.substr(0, size);
}

bool parsePort(std::string_view text, uint16_t& port) noexcept {
  if (text.empty() || (text[0] == '0' && text.size() > 1)) return false;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
  return ec == std::errc{} && end == text.data() + text.size();
}

// The text up to the next space, which goes with it; all of it where there is none.
std::string_view takeWord(std::string_view& line) noexcept {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

// Section 2.1: "PROXY TCP4 192.0.2.1 192.0.2.2 40000 443\r\n".
ProxyHeader parseV1(std::string_view bytes) noexcept {
  const size_t end = bytes.substr(0, ProxyHeader::kMaxV1Bytes).find("\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() >= ProxyHeader::kMaxV1Bytes) return failed("the line is too long");
    return {};
  }
  ProxyHeader header;
  header.state = ProxyHeader::State::kDone;
  header.size = static_cast<uint32_t>(end + 2);
  std::string_view line = bytes.substr(0, end);
  if (takeWord(line) != kV1Start) return failed("no PROXY header");
  const std::string_view protocol = takeWord(line);
  if (protocol == "UNKNOWN") return header;  // whatever else the line says
  if (protocol != "TCP4" && protocol != "TCP6") return failed("neither TCP4, TCP6 nor UNKNOWN");
  const std::string_view source = takeWord(line), destination = takeWord(line);
  const std::string_view source_port = takeWord(line), destination_port = line;
  uint16_t port = 0, ignored = 0;
  if (!parsePort(destination_port, ignored) || !parsePort(source_port, port))
    return failed("a malformed port");
  const bool v6 = protocol == "TCP6";
  for (const std::string_view ip : {source, destination}) {
    if ((ip.find(':') != std::string_view::npos) != v6 || PeerAddr::parse(ip).family == 0) {
      return failed("a malformed address");
    }
  }
  header.client = PeerAddr::parse(source, port);
  return header;
}

uint16_t u16At(std::string_view bytes, size_t at) noexcept {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 | static_cast<uint8_t>(bytes[at + 1]));
}

uint32_t u32At(std::string_view bytes, size_t at) noexcept {
  return static_cast<uint32_t>(u16At(bytes, at)) << 16 | u16At(bytes, at + 2);
}

// Section 2.2.4: the checksum of the whole header, taken while its own four bytes are 0.
bool checksumFits(std::string_view header, size_t at) noexcept {
  uint32_t crc = crc32c(header.substr(0, at));
  crc = crc32c(std::string_view("\0\0\0\0", 4), crc);
  return crc32c(header.substr(at + 4), crc) == u32At(header, at);
}

// Section 2.2: types, lengths and values from `at` to the header's end. nullptr, or what is wrong.
const char* checkTlvs(std::string_view header, size_t at) noexcept {
  while (at < header.size()) {
    if (header.size() - at < 3) return "a TLV is cut off";
    const uint8_t type = static_cast<uint8_t>(header[at]);
    const size_t size = u16At(header, at + 1);
    at += 3;
    if (header.size() - at < size) return "a TLV is longer than the header";
    if (type == kTlvCrc32c) {
      if (size != 4) return "a checksum that is not 4 bytes long";
      if (!checksumFits(header, at)) return "the checksum does not fit";
    }
    at += size;
  }
  return nullptr;
}

ProxyHeader parseV2(std::string_view bytes) noexcept {
  if (bytes.size() < ProxyHeader::kV2FixedBytes) return {};
  const uint8_t version_and_command = static_cast<uint8_t>(bytes[12]);
  if (version_and_command >> 4 != 2) return failed("an unknown version");
  const size_t total = ProxyHeader::kV2FixedBytes + u16At(bytes, 14);
  if (total > ProxyHeader::kMaxV2Bytes) return failed("the header is too long");
  const uint8_t command = version_and_command & 15;
  if (command > 1) return failed("an unknown command");
  if (bytes.size() < total) return {};
  ProxyHeader header;
  header.state = ProxyHeader::State::kDone;
  header.size = static_cast<uint32_t>(total);
  if (command == 0) return header;  // LOCAL: what follows is to be passed over
  bytes = bytes.substr(0, total);
  const uint8_t family = static_cast<uint8_t>(bytes[13]) >> 4;
  const uint8_t transport = static_cast<uint8_t>(bytes[13]) & 15;
  if (family == 0 || transport == 0) return header;  // UNSPEC: not told
  if (transport != 1) return failed("not a stream");
  constexpr std::array<size_t, 4> kAddressBytes = {0, 12, 36, 216};
  if (family >= kAddressBytes.size()) return failed("an unknown family");
  const size_t addresses_end = ProxyHeader::kV2FixedBytes + kAddressBytes[family];
  if (total < addresses_end) return failed("too short for its addresses");
  if (const char* wrong = checkTlvs(bytes, addresses_end)) return failed(wrong);
  const char* source = bytes.data() + ProxyHeader::kV2FixedBytes;
  if (family == 1) header.client = PeerAddr::fromBytes(AF_INET, source, u16At(bytes, 24));
  if (family == 2) header.client = PeerAddr::fromBytes(AF_INET6, source, u16At(bytes, 48));
  if (family == 3) header.client.family = AF_UNIX;
  return header;
}

constexpr std::array<uint32_t, 256> crcTable() noexcept {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78U : 0);
    table[i] = value;
  }
  return table;
}

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t crc) noexcept {
  static constexpr std::array<uint32_t, 256> kTable = crcTable();
  crc = ~crc;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

ProxyHeader parseProxyHeader(std::string_view bytes) noexcept {
  if (bytes.empty()) return {};
  if (bytes[0] == kV2Start[0]) {
    return mayBegin(bytes, kV2Start) ? parseV2(bytes) : failed("no PROXY header");
  }
  return mayBegin(bytes, kV1Start) ? parseV1(bytes) : failed("no PROXY header");
}

}  // namespace roost::net
