// links: roost_modules_push roost_sim
// A line as the template of a channel's name, the rest as the target of a request: a name that comes of it is
// bounded and without control characters, the same each time, and the request is answered.
#include <string>
#include <string_view>

#include "modules/push/channel_name.h"
#include "modules/push/publish_request.h"
#include "support/fuzz_require.h"
#include "support/h1_server.h"

using namespace roost;  // NOLINT
using modules::push::ChannelFault;
using modules::push::ChannelTemplate;
using test::require;

namespace {

void check(const ChannelTemplate& channel, http::Exchange& exchange) {
  std::string name, again;
  const ChannelFault fault = channel.read(exchange, name);
  require(channel.read(exchange, again) == fault && name == again);
  require((fault == ChannelFault::kNone) == modules::push::faultText(fault).empty());
  if (fault == ChannelFault::kNone) {
    require(!name.empty() && name.size() <= modules::push::kMaxChannelBytes);
    for (const char c : name) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
  push::Publication message;
  const std::string_view wrong =
      modules::push::readPublication(exchange.request(), exchange.query(), 1000, message);
  require(!wrong.empty() || message.wait_ms <= 1000);
  http::ResponseHead head(204);
  exchange.begin(head, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  auto channel = ChannelTemplate::compile(text.substr(0, line), {"app", "room"});
  if (!channel.ok()) {
    require(!channel.status().message().empty());
    return 0;
  }
  test::H1Server server;
  server.on("/{app}/{room}", [&channel](http::Exchange& exchange) { check(*channel, exchange); });
  server.start();
  std::string request = "POST /";
  request += text.substr(line + 1);
  server.ask(request + " HTTP/1.1\r\nHost: a\r\n\r\n");
  return 0;
}
