#include "tools/swarm/request.h"

#include <fmt/format.h>

#include "http/ascii.h"

namespace roost::swarm {
namespace {

constexpr std::string_view kClientMark = "{client}";

bool names(const std::vector<std::string>& headers, std::string_view name) {
  for (const std::string& header : headers) {
    if (header.size() > name.size() && header[name.size()] == ':' &&
        http::equalsToken(std::string_view(header).substr(0, name.size()), name)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view handshakeKey() noexcept {
  return "cm9vc3Qgc3dhcm0gcnVuLg==";
}

void buildRequest(Plan& plan) {
  const Scenario& s = plan.scenario;
  if (s.kind == Kind::kTcpEcho) return;
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\n", s.listens() || s.kind == Kind::kWs ? "GET" : s.method, s.path);
  if (!names(s.headers, "host")) text += fmt::format("Host: {}\r\n", s.host);
  if (s.kind == Kind::kSse && !names(s.headers, "accept")) text += "Accept: text/event-stream\r\n";
  if (s.kind == Kind::kWs) {
    text += fmt::format(
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: {}\r\n",
        handshakeKey());
    if (!s.ws_subprotocol.empty()) text += fmt::format("Sec-WebSocket-Protocol: {}\r\n", s.ws_subprotocol);
  }
  for (const std::string& header : s.headers) text += header + "\r\n";
  const bool has_body = !s.body.empty() && !s.listens() && s.kind != Kind::kWs;
  if (has_body && !names(s.headers, "content-length"))
    text += fmt::format("Content-Length: {}\r\n", s.body.size());
  text += "\r\n";
  if (has_body) text += s.body;
  plan.client_at = s.pipeline > 1 ? std::string::npos : text.find(kClientMark);
  if (plan.client_at != std::string::npos) text.erase(plan.client_at, kClientMark.size());
  for (uint32_t i = 0; i < s.pipeline; ++i) plan.request += text;
}

}  // namespace roost::swarm
