#include <string_view>

#include "http/ascii.h"
#include "http/origin_rule.h"
#include "modules/push/subscribe.h"

namespace roost::modules::push {
namespace {

using ::roost::push::SlowPolicy;
using ::roost::push::Start;

uint32_t number(config::Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

std::string textOr(config::Node node) {
  return node.isString() ? node.asString() : std::string();
}

Start startOf(config::Node node) {
  Start start;
  if (node.isString()) {
    start.kind = node.asString() == "newest" ? Start::Kind::kNewest : Start::Kind::kOldest;
  } else {
    start.kind = Start::Kind::kBack;
    start.back = number(node);
  }
  return start;
}

SlowPolicy slowOf(const std::string& text) noexcept {
  if (text == "latest") return SlowPolicy::kLatest;
  return text == "disconnect" ? SlowPolicy::kDisconnect : SlowPolicy::kDropOldest;
}

// Fields that long-poll answers have, or that say where an answer ends.
bool isTaken(std::string_view name) noexcept {
  for (const char* taken : {"Cache-Control", "Connection", "Content-Length", "Content-Type", "Date", "Etag",
                            "Keep-Alive", "Last-Modified", "Push-Gap", "Server", "Trailer",
                            "Transfer-Encoding", "Upgrade", "Vary", "X-EventSource-Event"}) {
    if (http::equalsToken(name, taken)) return true;
  }
  return false;
}

}  // namespace

Result<SubscribeOptions> SubscribeOptions::fromConfig(config::Node node, const std::string& channel,
                                                      const std::vector<std::string>& names) {
  SubscribeOptions options;
  if (Status foreign = http::checkForeignVariables(channel); !foreign.ok()) return foreign;
  Result<http::Template> compiled = http::Template::compile(channel, names);
  if (!compiled.ok()) return Status::error("channel: " + compiled.status().message());
  options.channel = std::move(compiled).value();
  options.long_poll = options.sse = options.websocket = false;
  const config::Node transports = node["transports"];
  for (size_t i = 0; i < transports.size(); ++i) {
    const std::string& name = transports.at(i).asString();
    options.long_poll = options.long_poll || name == "long_poll";
    options.interval_poll = options.interval_poll || name == "interval_poll";
    options.sse = options.sse || name == "sse";
    options.websocket = options.websocket || name == "websocket";
  }
  options.first.start = startOf(node["first_message"]);
  options.first.slow = slowOf(node["slow"].asString());
  options.timeout_ms = number(node["timeout_ms"]);
  options.timeout_status = static_cast<int>(node["timeout_status"].asInt());
  options.heartbeat_ms = number(node["heartbeat_ms"]);
  options.retry_ms = number(node["retry_ms"]);
  options.retry_after_s = number(node["retry_after_s"]);
  options.ping_interval_ms = number(node["ping_interval_ms"]);
  options.gap_messages = node["gap_messages"].asBool();
  options.origins.clear();
  const config::Node origins = node["origins"];
  for (size_t i = 0; i < origins.size(); ++i) options.origins.push_back(origins.at(i).asString());
  const Status admitted = http::OriginPolicy::compile(options.origins).status();
  if (!admitted.ok()) return Status::error("origins: " + admitted.message());
  options.id_header = textOr(node["id_header"]);
  if (isTaken(options.id_header)) {
    return Status::error("id_header: \"" + options.id_header + "\" is a field that answers have already");
  }
  options.id_query = textOr(node["id_query"]);
  return options;
}

}  // namespace roost::modules::push
