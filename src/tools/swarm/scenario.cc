#include "tools/swarm/scenario.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <filesystem>

#include "config/config.h"
#include "config/schema.h"
#include "tools/swarm/targets.h"

namespace roost::embedded {
extern const std::string_view swarm_schema;
}

namespace roost::swarm {
namespace {

using config::Node;
using Errors = std::vector<config::Diagnostic>;

constexpr const char* kOverlayName = "command line";

struct SchemeOf {
  std::string_view prefix;
  Kind kind;
  uint32_t port;  // 0: has to be said
};
constexpr SchemeOf kSchemes[] = {
    {"tcp://", Kind::kTcpEcho, 0}, {"http://", Kind::kHttp, 80}, {"ws://", Kind::kWs, 80}};

struct KindName {
  std::string_view name;
  Kind kind;
  std::string_view scheme;
};
constexpr KindName kKinds[] = {{"tcp_echo", Kind::kTcpEcho, "tcp://"}, {"http", Kind::kHttp, "http://"},
                               {"hold", Kind::kHold, "http://"},       {"poll", Kind::kPoll, "http://"},
                               {"sse", Kind::kSse, "http://"},         {"ws", Kind::kWs, "ws://"}};

// Splits "host:port/path" where a scheme has been taken off. Returns what is wrong, or "".
std::string readAuthority(std::string_view rest, uint32_t default_port, Scenario& scenario) {
  const size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  scenario.path = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash));
  for (const char c : scenario.path) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f')
      return "the path has a blank or a control character";
  }
  size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.find(']', colon) != std::string_view::npos) {
    colon = std::string_view::npos;
  }
  std::string host(authority.substr(0, colon));
  uint32_t port = default_port;
  if (colon != std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size()) port = 0;
  }
  if (port == 0 || port > 65535) return "needs a port from 1 to 65535";
  scenario.host = std::string(authority);
  scenario.port = port;
  if (host == "localhost") host = "127.0.0.1";
  scenario.host_name = host;
  auto target = net::SocketAddress::parse(host, port);
  if (target.ok() && target->family() != AF_UNIX && !host.empty()) {
    scenario.target = *target;
    scenario.loopback = isLoopback(net::PeerAddr::from(target->get(), target->size()));
    return {};
  }
  if (!isHostName(host)) return fmt::format("\"{}\" is neither an IP address nor a host name", host);
  return {};
}

void readUrl(Node root, bool allow_remote, Scenario& scenario, Errors& errors) {
  const Node node = root["url"];
  scenario.url = node.asString();
  const std::string& kind = root["kind"].asString();
  for (const SchemeOf& scheme : kSchemes) {
    if (scenario.url.compare(0, scheme.prefix.size(), scheme.prefix) != 0) continue;
    scenario.kind = scheme.kind;
    for (const KindName& entry : kKinds) {
      if (entry.name != kind) continue;
      scenario.kind = entry.kind;
      if (entry.scheme != scheme.prefix) {
        errors.push_back(
            errorAt(node, fmt::format("kind {} asks {}..., not {}...", kind, entry.scheme, scheme.prefix)));
      }
    }
    const std::string wrong =
        readAuthority(std::string_view(scenario.url).substr(scheme.prefix.size()), scheme.port, scenario);
    if (!wrong.empty()) {
      errors.push_back(errorAt(node, wrong));
    } else if (!scenario.loopback && !allow_remote) {
      errors.push_back(errorAt(node, notThisMachine(scenario.target.toString())));
    }
    return;
  }
  errors.push_back(errorAt(node, "begins with none of tcp://, http:// and ws://"));
}

int64_t secondsNs(Node node) noexcept {
  return std::llround(node.asDouble() * 1e9);
}
int64_t millisecondsNs(Node node) noexcept {
  return node.asInt() * 1'000'000;
}
uint32_t asU32(Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

void readLoad(Node root, Scenario& scenario) {
  scenario.clients = asU32(root["clients"]);
  scenario.threads = asU32(root["threads"]);
  scenario.source_addresses = static_cast<int32_t>(root["source_addresses"].asInt());
  scenario.connect_rate = root["connect_rate"].asDouble();
  scenario.rate = root["rate"].asDouble();
  scenario.think_ns = millisecondsNs(root["think_ms"]);
  scenario.requests_per_client = asU32(root["requests_per_client"]);
  scenario.connect_timeout_ms = asU32(root["connect_timeout_ms"]);
  scenario.require_all = root["require_all"].asBool();
  scenario.timeout_ms = asU32(root["timeout_ms"]);
  scenario.settle_ns = secondsNs(root["settle_s"]);
  // Who asks a few times only would be done before the measured time.
  const bool few = scenario.requests_per_client > 0 && root["warmup_s"].isDefault();
  scenario.warmup_ns = few ? 0 : secondsNs(root["warmup_s"]);
  scenario.duration_ns = secondsNs(root["duration_s"]);
  scenario.drain_ns = secondsNs(root["drain_s"]);
  scenario.reconnect = root["reconnect"].asBool();
  scenario.reconnect_delay_ns = millisecondsNs(root["reconnect_delay_ms"]);
}

void readExpectations(Node root, Scenario& scenario) {
  scenario.expect_status = static_cast<int>(root["expect_status"].asInt());
  scenario.expect_bytes = root["expect_bytes"].asInt();
  const std::string& body = root["expect_body"].asString();
  scenario.expect_body = body == "any"    ? BodyCheck::kAny
                         : body == "same" ? BodyCheck::kSame
                                          : BodyCheck::kHash;
  std::from_chars(body.data(), body.data() + body.size(), scenario.expect_hash, 16);  // 0 where it is a word
  scenario.expect_min_ns = millisecondsNs(root["expect_min_ms"]);
  scenario.expect_max_ns = millisecondsNs(root["expect_max_ms"]);
  scenario.expect_sequence = root["expect_sequence"].asBool();
  scenario.expect_messages = static_cast<uint64_t>(root["expect_messages"].asInt());
}

void readRequest(Node root, Scenario& scenario) {
  scenario.message_bytes = asU32(root["message_bytes"]);
  scenario.method = root["method"].asString();
  for (size_t i = 0; i < root["headers"].size(); ++i) {
    scenario.headers.push_back(root["headers"].at(i).asString());
  }
  scenario.body = root["body"].asString();
  scenario.pipeline = asU32(root["pipeline"]);
  scenario.spin = root["spin"].asBool();
  const std::string& ws = root["ws_mode"].asString();
  scenario.ws_mode = ws == "quiet" ? WsMode::kQuiet : ws == "listen" ? WsMode::kListen : WsMode::kEcho;
  scenario.ws_subprotocol = root["ws_subprotocol"].asString();
  for (size_t i = 0; i < root["pid"].size(); ++i) {
    scenario.pids.push_back(static_cast<int>(root["pid"].at(i).asInt()));
  }
}

// How many messages fit in, the last with an interval to arrive in.
uint64_t messagesThatFit(const Scenario& scenario) noexcept {
  if (scenario.publish_interval_ns == 0) return 0;
  return static_cast<uint64_t>(std::max<int64_t>(scenario.duration_ns / scenario.publish_interval_ns, 1));
}

void readPublishing(Node root, Scenario& scenario, Errors& errors) {
  const Node node = root["publish_url"];
  scenario.publish_url = node.asString();
  if (!scenario.publishes()) return;
  if (scenario.publish_url[0] == '/') scenario.publish_url.insert(0, "http://" + scenario.host);
  auto url = http::client::parseUrl(scenario.publish_url);
  if (!url.ok()) {
    errors.push_back(errorAt(node, url.status().message()));
    return;
  }
  scenario.publish = std::move(url).value();
  scenario.publish_interval_ns = secondsNs(root["publish_interval_s"]);
  scenario.publish_bytes = asU32(root["publish_bytes"]);
  scenario.publish_messages = static_cast<uint64_t>(root["publish_messages"].asInt());
  if (scenario.publish_messages == 0) scenario.publish_messages = messagesThatFit(scenario);
  if (scenario.publish_messages == 0) {
    errors.push_back(errorAt(root["publish_interval_s"], "0 needs publish_messages: how many there are"));
  } else if (static_cast<double>(scenario.publish_messages - 1) *
                 static_cast<double>(scenario.publish_interval_ns) >=
             static_cast<double>(scenario.duration_ns)) {
    errors.push_back(
        errorAt(root["publish_messages"],
                fmt::format("{} messages, one every {:g} s, do not fit into a duration_s of {:g}",
                            scenario.publish_messages, root["publish_interval_s"].asDouble(),
                            root["duration_s"].asDouble())));
  }
  if (scenario.expect_messages > 0) {
    errors.push_back(errorAt(root["expect_messages"], "publish_messages says how many there are"));
  }
  scenario.expect_sequence = true;
  scenario.expect_messages = scenario.publish_messages;
}

// What the schema cannot say: keys that mean nothing beside others.
void checkTogether(Node root, const Scenario& scenario, Errors& errors) {
  if (scenario.rate > 0 && scenario.think_ns > 0) {
    errors.push_back(
        errorAt(root["think_ms"], "think_ms and rate exclude each other: a rate is its own schedule"));
  }
  const bool receives = scenario.kind == Kind::kSse || scenario.kind == Kind::kHold ||
                        scenario.kind == Kind::kPoll ||
                        (scenario.kind == Kind::kWs && scenario.ws_mode == WsMode::kListen);
  if (scenario.publishes() && (!receives || scenario.kind == Kind::kHold)) {
    errors.push_back(
        errorAt(root["publish_url"], "goes with sse, poll, and ws with \"ws_mode\": \"listen\""));
    return;
  }
  if (scenario.expect_sequence && !receives) {
    errors.push_back(
        errorAt(root["expect_sequence"], "goes with sse, poll, hold, and ws with \"ws_mode\": \"listen\""));
  }
  if (scenario.expect_messages > 0 && (!receives || scenario.kind == Kind::kHold)) {
    errors.push_back(
        errorAt(root["expect_messages"], "goes with sse, poll, and ws with \"ws_mode\": \"listen\""));
  }
  if (!scenario.ws_subprotocol.empty() && scenario.kind != Kind::kWs) {
    errors.push_back(errorAt(root["ws_subprotocol"], "goes with ws"));
  }
  if (scenario.listens() && scenario.rate > 0) {
    errors.push_back(errorAt(root["rate"], "these clients ask nothing: they only receive"));
  }
  if (scenario.pipeline > 1 && (scenario.kind != Kind::kHttp || scenario.rate > 0)) {
    errors.push_back(errorAt(root["pipeline"], "goes with http, without a rate"));
  }
  if (scenario.expect_max_ns > 0 && scenario.expect_max_ns < scenario.expect_min_ns) {
    errors.push_back(errorAt(root["expect_max_ms"], "is less than expect_min_ms"));
  }
  if (scenario.expect_min_ns >= int64_t{scenario.timeout_ms} * 1'000'000) {
    errors.push_back(errorAt(root["expect_min_ms"], "no answer can be that late: timeout_ms is not longer"));
  }
}

std::string textOf(const Errors& errors, const std::vector<std::string>& overlay_names) {
  std::string text;
  for (const config::Diagnostic& error : errors) {
    if (!text.empty()) text += '\n';
    const auto line = static_cast<size_t>(error.where.line);
    if (error.where.file == kOverlayName && line >= 1 && line <= overlay_names.size()) {
      text += fmt::format("{}: {}", overlay_names[line - 1], error.message);
    } else {
      text += error.toString();
    }
  }
  return text;
}

Result<config::Schema> assembled() {
  return config::Schema::assemble(embedded::swarm_schema, {});
}

}  // namespace

std::string_view kindName(Kind kind) noexcept {
  for (const KindName& entry : kKinds) {
    if (entry.kind == kind) return entry.name;
  }
  return "";
}

Result<std::string> scenarioSchema() {
  auto schema = assembled();
  if (!schema.ok()) return schema.status();
  return schema->text();
}

Result<Scenario> loadScenario(const std::string& file, const std::string& overlay,
                              const std::vector<std::string>& overlay_names, bool allow_remote) {
  auto schema = assembled();
  if (!schema.ok()) return schema.status();
  // What stands in an object wins over what it includes.
  std::string text = overlay;
  if (!file.empty()) {
    std::error_code ignored;
    const std::string path = std::filesystem::absolute(file, ignored).string();
    const Result<std::string> readable = config::readConfigFile(path);
    if (!readable.ok()) return Status::error(fmt::format("{}: {}", file, readable.status().message()));
    const size_t end = text.rfind('}');
    std::string quoted;
    for (const char c : path) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    text.insert(end, fmt::format("\"include\": \"{}\"", quoted));
  }
  const config::LoadResult loaded = config::loadText(text, kOverlayName, *schema);
  if (!loaded.ok()) return Status::error(textOf(loaded.errors, overlay_names));
  const Node root = loaded.config->root();
  Scenario scenario;
  Errors errors;
  readUrl(root, allow_remote, scenario, errors);
  readLoad(root, scenario);
  readExpectations(root, scenario);
  readRequest(root, scenario);
  readPublishing(root, scenario, errors);
  checkTogether(root, scenario, errors);
  if (!errors.empty()) return Status::error(textOf(errors, overlay_names));
  scenario.name = file.empty() ? scenario.url : std::filesystem::path(file).filename().string();
  scenario.description = root["description"].asString();
  return scenario;
}

}  // namespace roost::swarm
