// links: roost_http
// URLs and references: what is accepted can be put into a request as it is, and reads back as itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/client/url.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost::http::client;

void check(const Url& url) {
  require(isTarget(url.target), "a target may stand in a request line");
  require(url.origin.host.empty() != url.origin.unix_path.empty(), "a host or a socket");
  if (!url.origin.unix_path.empty()) return;
  require(url.origin.port != 0, "a port");
  for (const char c : url.origin.host) require(c > ' ' && c < 0x7f && c != '/' && c != '@', "a clean host");
  const std::string again = (url.is_https ? "https://" : "http://") + url.origin.key() + url.target;
  require(url.is_https != parseUrl(again).ok(), "https is refused");
  const roost::Result<Url> read = resolveReference(url, again);
  require(read.ok() && read.value().origin == url.origin && read.value().target == url.target,
          "it reads back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 2048) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const roost::Result<Url> url = parseUrl(text);
  if (url.ok()) check(url.value());
  static const Url base = parseUrl("http://example.org:81/a/b/c?d").value();
  const roost::Result<Url> to = resolveReference(base, text);
  if (!to.ok()) return 0;
  check(to.value());
  return 0;
}
