#include "http/ws/handshake.h"

#include <algorithm>
#include <string>

#include "http/ascii.h"
#include "http/exchange.h"
#include "http/token_list.h"
#include "http/ws/accept_key.h"
#include "http/ws/socket.h"

namespace roost::http::ws {
namespace {

void note(Exchange& exchange, const char* text) {
  if (exchange.trace() != nullptr) exchange.trace()->note(text);
}

void refuse(Exchange& exchange, int status, const char* why) {
  note(exchange, why);
  ResponseHead extra(status);
  if (status == 405) extra.add("Allow", "GET");
  if (status == 426) {
    extra.add("Upgrade", "websocket");
    extra.add("Connection", "Upgrade");
    extra.add("Sec-WebSocket-Version", "13");
  }
  exchange.replyError(status, &extra);
}

void replyText(Exchange& exchange, int status, const std::string& text) {
  ResponseHead head(status);
  head.add("Content-Type", "text/plain");
  exchange.reply(head, text + '\n');
}

bool lists(const RequestHead& head, FieldId id, std::string_view wanted) noexcept {
  for (TokenList list(head, id); list.next();) {
    if (equalsToken(list.element(), wanted)) return true;
  }
  return false;
}

// Says what is wrong with the request; 0: nothing.
int check(const RequestHead& head, Method method, const char*& why) noexcept {
  const auto once = [&](FieldId id) { return head.has(id) && (head.repeated & fieldBit(id)) == 0; };
  why = "only GET opens a WebSocket";
  if (method != Method::kGet) return 405;
  why = "no upgrade to websocket is asked for";
  if (head.version_minor == 0 || !lists(head, FieldId::kUpgrade, "websocket")) return 426;
  if (!lists(head, FieldId::kConnection, "upgrade")) return 426;
  why = "another version of the WebSocket protocol";
  if (!once(FieldId::kSecWebsocketVersion) || head.get(FieldId::kSecWebsocketVersion) != "13") return 426;
  why = "Sec-WebSocket-Key is not 16 bytes in base64";
  if (!once(FieldId::kSecWebsocketKey) || !isKey(head.get(FieldId::kSecWebsocketKey))) return 400;
  return 0;
}

// The first of the client's subprotocols, in its order, that we know; empty where there is none.
std::string_view chooseSubprotocol(const RequestHead& head, const std::vector<std::string>& known) noexcept {
  for (TokenList list(head, FieldId::kSecWebsocketProtocol); list.next();) {
    for (const std::string& ours : known) {
      if (ours == list.element()) return ours;
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<Socket> check(Exchange& exchange, const Endpoint::Ref& endpoint) noexcept {
  const RequestHead& request = exchange.request();
  const EndpointOptions& options = endpoint->options();
  const char* why = "";
  if (const int status = check(request, exchange.method(), why); status != 0) {
    refuse(exchange, status, why);
    return nullptr;
  }
  if (const std::string foreign = refusedOrigin(exchange, options.origins); !foreign.empty()) {
    replyText(exchange, 403, foreign);
    return nullptr;
  }
  std::string extensions;
  const Compression compression = chooseCompression(request, options.compression, extensions);
  std::unique_ptr<Socket> socket = Socket::make(endpoint, compression);
  socket->makeState(exchange);
  return socket;
}

bool open(Exchange& exchange, std::unique_ptr<Socket> socket) noexcept {
  const RequestHead& request = exchange.request();
  const EndpointOptions& options = socket->endpoint().options();
  ResponseHead head(101);
  head.add("Upgrade", "websocket");
  const auto key = acceptKey(request.get(FieldId::kSecWebsocketKey));
  head.add("Sec-WebSocket-Accept", {key.data(), key.size()});
  const std::string_view subprotocol = chooseSubprotocol(request, options.subprotocols);
  if (!subprotocol.empty()) head.add("Sec-WebSocket-Protocol", subprotocol);
  std::string extensions;
  const Compression compression = chooseCompression(request, options.compression, extensions);
  if (compression.on) head.add("Sec-WebSocket-Extensions", extensions);
  Socket& mine = *socket;
  ByteStream* stream = exchange.upgrade(head, std::move(socket));
  if (stream != nullptr) {
    mine.attach(*stream);
    mine.begin();
    return true;
  }
  if (exchange.active()) refuse(exchange, 400, "a request with content cannot be upgraded");
  return false;
}

void accept(Exchange& exchange, const Endpoint::Ref& endpoint) noexcept {
  if (std::unique_ptr<Socket> socket = check(exchange, endpoint)) open(exchange, std::move(socket));
}

}  // namespace roost::http::ws
