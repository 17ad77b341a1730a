// links: roost_http
// Any bytes as the value of X-Forwarded-For and Forwarded: elements lie within the value, in order and
// without its commas; and whatever a client has sent, an element that a proxy appends is read as the proxy
// meant it.
#include <string>
#include <string_view>

#include "http/client_address.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;

void checkElements(std::string_view value, bool quotes) {
  using namespace roost::http;  // NOLINT
  std::string_view rest = value, element;
  const char* last = value.data() + value.size();
  while (takeLastElement(rest, element, quotes)) {
    require(!element.empty() && element.data() >= value.data() && element.data() + element.size() <= last);
    require(quotes || element.find(',') == std::string_view::npos);
    last = element.data();
    ForwardedElement parsed;
    if (parseForwardedElement(element, parsed)) {
      const auto node = parseNode(parsed.node);
      require(node.family == 0 || node.family == AF_INET || node.family == AF_INET6);
    }
    const auto node = parseNode(element);
    if (node.family == 0) continue;
    char text[roost::net::PeerAddr::kMaxText];  // an address reads back as itself
    require(parseNode({text, node.format(text)}) == node);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::http;  // NOLINT
  const std::string value(reinterpret_cast<const char*>(data), size);
  checkElements(value, false);
  checkElements(value, true);
  isRequestId(value);

  const std::string appended = value + R"(, for="[2001:db8::7]:80";proto=https;host="a,\"b")";
  std::string_view rest = appended, element;
  require(takeLastElement(rest, element, true));
  ForwardedElement parsed;
  require(parseForwardedElement(element, parsed));
  require(parsed.node == "[2001:db8::7]:80" && parsed.proto == "https" && rest == value);
  return 0;
}
