#include "http/ws/connector.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "http/ascii.h"
#include "http/token_list.h"
#include "http/ws/accept_key.h"
#include "http/ws/socket.h"

namespace roost::http::ws {
namespace {

bool lists(std::string_view value, std::string_view wanted) noexcept {
  for (TokenList list(value); list.next();) {
    if (equalsToken(list.element(), wanted)) return true;
  }
  return false;
}

// The value of a field that may come once; false where it came more often.
bool single(const HeadFields& head, std::string_view name, std::string_view& value) noexcept {
  int count = 0;
  for (size_t i = 0; i < head.field_count; ++i) {
    if (!equalsToken(head.name(head.fields[i]), name)) continue;
    value = head.value(head.fields[i]);
    ++count;
  }
  return count <= 1;
}

}  // namespace

std::string OpenFailure::toString() const {
  if (transport.error != client::ClientError::kNone) return transport.toString();
  return "status " + std::to_string(status) + ": " + reason;
}

Result<client::Url> Connector::parse(std::string_view url) {
  constexpr std::string_view kScheme = "ws://";
  if (url.substr(0, kScheme.size()) != kScheme)
    return Status::error("a WebSocket's URL begins with \"ws://\"");
  return client::parseUrl("http://" + std::string(url.substr(kScheme.size())));
}

void Connector::open(const client::Url& url, const Endpoint::Ref& endpoint, const Options& options) {
  endpoint_ = endpoint;
  send_timeout_ms_ = options.send_timeout_ms;
  key_ = makeKey(randomWord(), randomWord());
  std::string fields = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ";
  fields.append(key_.data(), key_.size()).append("\r\n");
  const EndpointOptions& ours = endpoint->options();
  for (const std::string& subprotocol : ours.subprotocols) {
    fields.append("Sec-WebSocket-Protocol: ").append(subprotocol).append("\r\n");
  }
  if (ours.compression.on)
    fields.append("Sec-WebSocket-Extensions: ").append(compressionOffer(ours.compression)).append("\r\n");
  fields.append(options.fields);
  client::Request request;
  request.target = url.target;
  request.fields = fields;
  request.upgrade = "websocket";
  request.timeouts.total_ms = options.timeout_ms;
  call_ = client_.start(url.origin, request, *this).name();
}

void Connector::cancel() noexcept {
  if (client::Call* call = client_.find(std::exchange(call_, {}))) call->cancel();
}

// What is wrong with an answer 101 (section 4.1); nullptr: nothing.
const char* Connector::faultOf(const client::ReceivedHead& head) const noexcept {
  if (head.status != 101) return "no upgrade";
  std::string_view value;
  if (!single(head, "Upgrade", value) || !equalsToken(value, "websocket")) return "upgrade to something else";
  if (!lists(head.get(FieldId::kConnection), "upgrade")) return "Connection without upgrade";
  const auto accept = acceptKey({key_.data(), key_.size()});
  value = {};
  if (!single(head, "Sec-WebSocket-Accept", value) || value != std::string_view(accept.data(), accept.size()))
    return "wrong Sec-WebSocket-Accept";
  const auto& ours = endpoint_->options().subprotocols;
  value = {};
  if (!single(head, "Sec-WebSocket-Protocol", value)) return "more than one subprotocol";
  if (!value.empty() && std::find(ours.begin(), ours.end(), value) == ours.end())
    return "a subprotocol that was not offered";
  return nullptr;
}

void Connector::onHead(client::Call& call, const client::ReceivedHead& head,
                       const h1::ResponseFraming&) noexcept {
  OpenFailure failure;
  failure.status = head.status;
  Compression compression;
  const char* fault = faultOf(head);
  if (fault == nullptr) {
    std::string_view extensions;
    Result<Compression> agreed = single(head, "Sec-WebSocket-Extensions", extensions)
                                     ? readCompressionAnswer(extensions, endpoint_->options().compression)
                                     : Status::error("several lines");
    if (agreed.ok()) {
      compression = agreed.value();
    } else {
      fault = "extensions that do not fit the offer";
    }
  }
  call_ = {};
  if (fault != nullptr) {
    failure.reason = fault;
    call.cancel();
    listener_.onRefused(failure);
    return;
  }
  const std::string subprotocol(head.get("Sec-WebSocket-Protocol"));
  std::unique_ptr<Socket> socket = Socket::make(endpoint_, compression);
  Socket& mine = *socket;
  ByteStream& stream = call.upgrade(std::move(socket), send_timeout_ms_);
  mine.attach(stream);
  listener_.onOpened(mine, subprotocol);  // may destroy this
  mine.begin();
}

void Connector::onFailure(const client::ClientFailure& failure) noexcept {
  call_ = {};
  OpenFailure what;
  what.transport = failure;
  listener_.onRefused(what);
}

}  // namespace roost::http::ws
