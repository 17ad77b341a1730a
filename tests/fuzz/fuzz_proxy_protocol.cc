// links: roost_net
// Any bytes as the beginning of a proxied connection: no more is asked for than the longest header has, what
// is decided on a part stays decided on the whole, and a header that is taken needs all of its bytes.
#include <string_view>

#include "net/proxy_protocol.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::net;  // NOLINT
  using State = ProxyHeader::State;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ProxyHeader whole = parseProxyHeader(bytes);
  if (whole.state == State::kNeedMore) require(size < ProxyHeader::kMaxV2Bytes);
  if (whole.state == State::kError) require(whole.error[0] != '\0');
  if (whole.state != State::kDone) return 0;
  require(whole.size > 0 && whole.size <= size && whole.size <= ProxyHeader::kMaxV2Bytes);
  if (bytes[0] == 'P') require(whole.size <= ProxyHeader::kMaxV1Bytes);
  const uint8_t family = whole.client.family;
  require(family == 0 || family == AF_INET || family == AF_INET6 || family == AF_UNIX);
  require(parseProxyHeader(bytes.substr(0, whole.size)).client == whole.client);
  for (size_t part = 0; part < whole.size; part += 1 + whole.size / 64) {
    require(parseProxyHeader(bytes.substr(0, part)).state == State::kNeedMore);
  }
  return 0;
}
