// links: roost_modules_push
// Any bytes as a list of messages: what is accepted keeps to its limits, names channels that may be, and
// holds nothing that could break a line; and as base64, which says the same when it is encoded again.
#include <string>
#include <string_view>

#include "modules/push/batch.h"
#include "modules/push/channel_name.h"
#include "modules/push/publish_request.h"
#include "support/fuzz_require.h"

using namespace roost::modules::push;  // NOLINT
using roost::test::require;

namespace {

constexpr uint32_t kMostBytes = 40;

std::string encoded(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

void checkEntry(const BatchEntry& entry) {
  if (entry.status != 0) {
    require(entry.status == 400 || entry.status == 403 || entry.status == 413);
    return require(!entry.fault.empty());
  }
  require(checkChannel(entry.channel) == ChannelFault::kNone);
  require(entry.channel.compare(0, 1, "a") == 0 || entry.channel.compare(0, 1, "b") == 0);
  require(faultOf(entry.message).empty() && entry.message.payload.size() <= kMostBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  BatchOptions limits;
  limits.max_messages = 5;
  limits.prefixes = {"a", "b"};
  const Batch batch = readBatch(text, limits, kMostBytes);
  require(batch.entries.size() <= limits.max_messages);
  require((batch.status == 200) == batch.fault.empty());
  require(batch.status == 200 || batch.entries.empty());
  for (const BatchEntry& entry : batch.entries) checkEntry(entry);

  std::string bytes;
  if (decodeBase64(text, bytes)) require(encoded(bytes) == text);
  require(decodeBase64(encoded(text), bytes) && bytes == text);
  return 0;
}
