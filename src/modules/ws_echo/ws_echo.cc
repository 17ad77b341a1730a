#include "modules/ws_echo/ws_echo.h"

#include <string>
#include <utility>
#include <vector>

#include "http/handler.h"
#include "http/ws/endpoint.h"
#include "http/ws/handshake.h"
#include "http/ws/socket.h"

namespace roost::embedded {
extern const std::string_view ws_echo_schema;
}

namespace roost::modules::ws_echo {
namespace {

class Echo final : public http::ws::SocketHandler {
 public:
  void onMessage(http::ws::Socket& socket, http::ws::Message& message) const noexcept override {
    socket.sendBack(message);
  }
};

class WsEchoHandler final : public http::Handler {
 public:
  explicit WsEchoHandler(http::ws::EndpointOptions options)
      : endpoint_(http::ws::Endpoint::make(std::move(options), std::make_unique<Echo>())) {}
  void handle(http::Exchange& exchange) const noexcept override { http::ws::accept(exchange, endpoint_); }

 private:
  http::ws::Endpoint::Ref endpoint_;
};

std::vector<std::string> texts(config::Node list) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list.at(i).asString());
  return out;
}

uint32_t number(config::Node node) {
  return static_cast<uint32_t>(node.asInt());
}

http::ws::CompressionOptions compression(config::Node node) {
  http::ws::CompressionOptions options;
  options.on = node.isObject();
  if (!options.on) return options;
  options.server_no_context_takeover = !node["server_context_takeover"].asBool();
  options.client_no_context_takeover = !node["client_context_takeover"].asBool();
  options.server_max_window_bits = static_cast<uint8_t>(number(node["server_max_window_bits"]));
  options.client_max_window_bits = static_cast<uint8_t>(number(node["client_max_window_bits"]));
  options.level = static_cast<uint8_t>(number(node["level"]));
  options.min_message_bytes = number(node["min_message_bytes"]);
  return options;
}

class WsEcho final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"ws_echo", embedded::ws_echo_schema, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    http::ws::EndpointOptions options;
    options.max_message_bytes = number(node["max_message_bytes"]);
    options.max_frame_bytes = options.max_message_bytes;
    options.max_queued_bytes = number(node["max_queued_bytes"]);
    options.ping_interval_ms = number(node["ping_interval_ms"]);
    options.pong_timeout_ms = number(node["pong_timeout_ms"]);
    options.idle_timeout_ms = number(node["idle_timeout_ms"]);
    options.close_timeout_ms = number(node["close_timeout_ms"]);
    options.compression = compression(node["compression"]);
    options.subprotocols = texts(node["subprotocols"]);
    Result<http::OriginPolicy> origins = http::OriginPolicy::compile(texts(node["origins"]));
    if (!origins.ok()) return Status::error("origins: " + origins.status().message());
    options.origins = std::move(origins).value();
    module::RouteParts parts;
    parts.handler = std::make_unique<WsEchoHandler>(std::move(options));
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeWsEcho() {
  return std::make_unique<WsEcho>();
}

}  // namespace roost::modules::ws_echo
