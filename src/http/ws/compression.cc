#include "http/ws/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>

#include "base/memory.h"
#include "http/ascii.h"
#include "http/message.h"
#include "http/token_list.h"

namespace roost::http::ws {
namespace {

constexpr std::string_view kName = "permessage-deflate";
constexpr unsigned kMaxBits = 15;
constexpr unsigned kMinBits = 8;

// The parameters of one offer or answer, as they are written.
struct Parameters {
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  bool has_client_bits = false;  // named, with a value or without
  unsigned server_bits = 0;      // 0: not named
  unsigned client_bits = 0;      // 0: no value
};

// 8 to 15, without leading zeros; 0: something else.
unsigned readBits(std::string_view text) noexcept {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (text.size() == 1) return text[0] == '8' || text[0] == '9' ? static_cast<unsigned>(text[0] - '0') : 0;
  if (text.size() != 2 || text[0] != '1' || text[1] < '0' || text[1] > '5') return 0;
  return 10 + static_cast<unsigned>(text[1] - '0');
}

// False where a parameter is unknown, doubled or wrong.
bool readParameter(std::string_view name, const std::optional<std::string_view>& value,
                   Parameters& out) noexcept {
  if (equalsToken(name, "server_no_context_takeover")) {
    return !value && !std::exchange(out.server_no_context_takeover, true);
  }
  if (equalsToken(name, "client_no_context_takeover")) {
    return !value && !std::exchange(out.client_no_context_takeover, true);
  }
  if (equalsToken(name, "server_max_window_bits")) {
    if (!value || out.server_bits != 0) return false;
    out.server_bits = readBits(*value);
    return out.server_bits != 0;
  }
  if (!equalsToken(name, "client_max_window_bits") || std::exchange(out.has_client_bits, true)) return false;
  if (!value) return true;
  out.client_bits = readBits(*value);
  return out.client_bits != 0;
}

// One element of Sec-WebSocket-Extensions; nothing where it is another extension or cannot be taken.
std::optional<Parameters> readExtension(std::string_view element) noexcept {
  const auto cut = [&element] {
    const size_t end = std::min(element.find(';'), element.size());
    const std::string_view part = trimOws(element.substr(0, end));
    element.remove_prefix(std::min(end + 1, element.size()));
    return part;
  };
  const bool more = element.find(';') != std::string_view::npos;
  if (!equalsToken(cut(), kName)) return {};
  Parameters parameters;
  for (bool going = more; going;) {
    going = element.find(';') != std::string_view::npos;
    const std::string_view part = cut();
    const size_t equals = part.find('=');
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) value = trimOws(part.substr(equals + 1));
    if (!readParameter(trimOws(part.substr(0, equals)), value, parameters)) return {};
  }
  return parameters;
}

void appendBits(std::string& text, std::string_view name, unsigned bits) {
  text.append("; ").append(name).append("=").append(std::to_string(bits));
}

}  // namespace

Compression chooseCompression(const RequestHead& head, const CompressionOptions& ours, std::string& answer) {
  Compression agreed;
  if (!ours.on) return agreed;
  for (TokenList list(head, FieldId::kSecWebsocketExtensions); list.next();) {
    const std::optional<Parameters> offer = readExtension(list.element());
    if (!offer) continue;
    agreed.on = true;
    answer = kName;
    agreed.server_no_context_takeover = ours.server_no_context_takeover || offer->server_no_context_takeover;
    agreed.client_no_context_takeover = ours.client_no_context_takeover || offer->client_no_context_takeover;
    if (agreed.server_no_context_takeover) answer += "; server_no_context_takeover";
    if (agreed.client_no_context_takeover) answer += "; client_no_context_takeover";
    const unsigned server_bits = std::min<unsigned>(ours.server_max_window_bits,
                                                    offer->server_bits != 0 ? offer->server_bits : kMaxBits);
    agreed.server_bits = static_cast<uint8_t>(server_bits);
    if (offer->server_bits != 0 || server_bits < kMaxBits)
      appendBits(answer, "server_max_window_bits", server_bits);
    // A client that does not name it cannot be asked to use a smaller window (RFC 7692 section 7.1.2.2).
    if (offer->has_client_bits) {
      const unsigned client_bits = std::min<unsigned>(
          ours.client_max_window_bits, offer->client_bits != 0 ? offer->client_bits : kMaxBits);
      agreed.client_bits = static_cast<uint8_t>(client_bits);
      if (client_bits < kMaxBits) appendBits(answer, "client_max_window_bits", client_bits);
    }
    return agreed;
  }
  return agreed;
}

std::string compressionOffer(const CompressionOptions& ours) {
  std::string offer(kName);
  if (ours.server_no_context_takeover) offer += "; server_no_context_takeover";
  if (ours.client_no_context_takeover) offer += "; client_no_context_takeover";
  if (ours.server_max_window_bits < kMaxBits)
    appendBits(offer, "server_max_window_bits", ours.server_max_window_bits);
  if (ours.client_max_window_bits < kMaxBits) {
    appendBits(offer, "client_max_window_bits", ours.client_max_window_bits);
  } else {
    offer += "; client_max_window_bits";
  }
  return offer;
}

Result<Compression> readCompressionAnswer(std::string_view value, const CompressionOptions& ours) {
  Compression agreed;
  TokenList list(value);
  if (!list.next()) return agreed;
  const std::optional<Parameters> answer = readExtension(list.element());
  if (!ours.on || !answer || list.next()) return Status::error("extensions that were not offered");
  const bool bits_fit = answer->server_bits <= ours.server_max_window_bits &&
                        (answer->server_bits != 0 || ours.server_max_window_bits == kMaxBits) &&
                        (!answer->has_client_bits || answer->client_bits != 0);
  const bool context_fits = answer->server_no_context_takeover || !ours.server_no_context_takeover;
  if (!bits_fit || !context_fits)
    return Status::error("parameters of permessage-deflate that do not fit the offer");
  agreed.on = true;
  agreed.server_no_context_takeover = answer->server_no_context_takeover;
  agreed.client_no_context_takeover = answer->client_no_context_takeover || ours.client_no_context_takeover;
  agreed.server_bits = static_cast<uint8_t>(answer->server_bits != 0 ? answer->server_bits : kMaxBits);
  const unsigned client_bits = answer->client_bits != 0 ? answer->client_bits : kMaxBits;
  agreed.client_bits = static_cast<uint8_t>(std::min<unsigned>(client_bits, ours.client_max_window_bits));
  return agreed;
}

// --- the coding

void InflateEnd::operator()(z_stream_s* stream) const noexcept {
  inflateEnd(stream);
  delete stream;
}

void DeflateEnd::operator()(z_stream_s* stream) const noexcept {
  deflateEnd(stream);
  delete stream;
}

namespace {

// A peer decides whether there are contexts, and how many.
void* allocateForZlib(void*, unsigned items, unsigned size) {
  return memory::allocateForPeer(size_t{items} * size);
}
void freeForZlib(void*, void* memory) {
  std::free(memory);
}

z_stream_s* newStream() noexcept {
  auto* stream = new (std::nothrow) z_stream_s{};
  if (stream == nullptr) return nullptr;
  stream->zalloc = &allocateForZlib;
  stream->zfree = &freeForZlib;
  return stream;
}

}  // namespace

Inflater::Inflater(unsigned window_bits) noexcept {
  open(window_bits);
}

void Inflater::open(unsigned window_bits) noexcept {
  stream_.reset(newStream());
  if (stream_ != nullptr && inflateInit2(stream_.get(), -static_cast<int>(window_bits)) != Z_OK)
    stream_.reset();
}

void Inflater::reset(unsigned window_bits) noexcept {
  ended_ = false;
  if (stream_ == nullptr) return open(window_bits);
  inflateReset2(stream_.get(), -static_cast<int>(window_bits));
}

Inflater::State Inflater::run(std::string_view& in, char* out, size_t room, size_t& written) noexcept {
  written = 0;
  if (stream_ == nullptr) return State::kNoMemory;
  z_stream_s& z = *stream_;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out);
  z.avail_out = static_cast<uInt>(room);
  if (!in.empty()) ended_ = false;
  int rc = Z_OK;
  while (rc == Z_OK && z.avail_out > 0) {
    rc = inflate(&z, Z_SYNC_FLUSH);
    // A sender may end its stream within a message and begin another, which may look back into the first
    // (section 7.2.3.4).
    if (rc == Z_STREAM_END) {
      ended_ = z.avail_in == 0;
      rc = inflateResetKeep(&z);
    }
    if (z.avail_in == 0 && rc == Z_OK && z.avail_out > 0) break;
  }
  in.remove_prefix(in.size() - z.avail_in);
  written = room - z.avail_out;
  if (rc == Z_MEM_ERROR) return State::kNoMemory;  // its window, which comes with the first that needs one
  if (rc != Z_OK && rc != Z_BUF_ERROR) return State::kError;
  return z.avail_out == 0 ? State::kNeedRoom : State::kNeedInput;
}

// The tail ends an empty stored block: behind it lies neither the rest of a block nor of a byte.
bool Inflater::complete() const noexcept {
  constexpr int kBetweenBlocks = 128, kBits = 63;
  return ended_ || (stream_ != nullptr && (stream_->data_type & kBetweenBlocks) != 0 &&
                    (stream_->data_type & kBits) == 0);
}

Deflater::Deflater(unsigned window_bits, unsigned level) noexcept
    : window_bits_(static_cast<uint8_t>(window_bits)), level_(static_cast<uint8_t>(level)) {
  open();
}

void Deflater::open() noexcept {
  stream_.reset(newStream());
  if (stream_ == nullptr) return;
  const int bits = std::max<int>(window_bits_, kMinBits + 1);
  const int memory = std::max(1, bits - 7);  // tables that go with the window: 8 for the largest
  if (deflateInit2(stream_.get(), level_, Z_DEFLATED, -bits, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    stream_.reset();
}

void Deflater::reset() noexcept {
  if (stream_ == nullptr) return open();
  deflateReset(stream_.get());
}

bool Deflater::run(std::string_view message, std::vector<char>& out) noexcept {
  if (stream_ == nullptr) return false;
  z_stream_s& z = *stream_;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(message.data()));
  z.avail_in = static_cast<uInt>(message.size());
  const size_t before = out.size();
  size_t used = before;
  constexpr size_t kFlushBytes = 16;  // what a flush may add to zlib's bound
  size_t wanted = used + deflateBound(&z, static_cast<uLong>(message.size())) + kFlushBytes;
  for (;;) {
    if (!memory::forPeer([&] { out.resize(wanted); })) {
      deflateReset(&z);  // what the peer has seen need not be referred to
      out.resize(before);
      return false;
    }
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    z.avail_out = static_cast<uInt>(out.size() - used);
    deflate(&z, Z_SYNC_FLUSH);
    used = out.size() - z.avail_out;
    if (z.avail_out > 0) break;  // all of it is out, the flush included
    wanted = out.size() * 2;
  }
  out.resize(used - kMessageTail.size());
  return true;
}

namespace {
std::vector<char>& threadBytes() noexcept {
  thread_local std::vector<char> bytes;
  return bytes;
}
}  // namespace

Scratch::Scratch() noexcept : bytes_(threadBytes()) {
  bytes_.clear();
}

Scratch::~Scratch() {
  if (bytes_.capacity() > kKeptBytes) std::vector<char>().swap(bytes_);
}

Inflater& sharedInflater(unsigned window_bits) {
  thread_local Inflater inflater(kMaxBits);
  inflater.reset(window_bits);
  return inflater;
}

Deflater& sharedDeflater(unsigned window_bits, unsigned level) {
  struct Entry {
    unsigned bits, level;
    Deflater deflater;
  };
  thread_local std::vector<std::unique_ptr<Entry>> kinds;  // as many as routes have different options
  for (const auto& kind : kinds) {
    if (kind->bits != window_bits || kind->level != level) continue;
    kind->deflater.reset();
    return kind->deflater;
  }
  kinds.push_back(std::unique_ptr<Entry>(new Entry{window_bits, level, Deflater(window_bits, level)}));
  return kinds.back()->deflater;
}

}  // namespace roost::http::ws
