// links: roost_http
// Any bytes as the value of a Host field: what is accepted holds nothing dangerous, consists of exactly its
// host and port, and says the same when it is put together again.
#include <string>
#include <string_view>

#include "http/host.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::http;  // NOLINT
  const std::string value(reinterpret_cast<const char*>(data), size);
  const Authority authority = parseHost(value);
  if (value.empty()) {
    require(authority.kind == HostKind::kEmpty);
    return 0;
  }
  require(parseAuthority(value).kind == authority.kind);
  if (!authority.ok()) return 0;

  for (const char c : value)
    require(c > ' ' && c < 0x7f && std::string_view("@/\\?#,\"<>").find(c) == std::string_view::npos);
  const std::string host(authority.host);
  require(!host.empty() && host.size() <= kMaxHostBytes && value.compare(0, host.size(), host) == 0);
  require((host[0] == '[') == (authority.kind == HostKind::kIpv6));
  std::string rest = value.substr(host.size());
  if (!rest.empty() && rest[0] == '.') rest.erase(0, 1);
  require(rest.empty() || rest[0] == ':');
  require(authority.has_port == (rest.size() > 1));
  if (authority.has_port) require(std::stoul(rest.substr(1)) == authority.port);

  char lower[kMaxHostBytes];
  const std::string lowered(lower, lowerHost(host, lower));
  require(lowered.size() == host.size());
  const std::string text = lowered + (authority.has_port ? ":" + std::to_string(authority.port) : "");
  const Authority again = parseHost(text);
  require(again.kind == authority.kind && again.host == lowered && again.port == authority.port);
  return 0;
}
