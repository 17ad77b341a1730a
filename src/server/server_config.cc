#include "server/server_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "module/cidr_list.h"
#include "module/service_builder.h"
#include "server/database_host.h"
#include "server/overload.h"

namespace roost::server {
namespace {

using config::errorAt;
using config::Node;
using Errors = std::vector<config::Diagnostic>;

uint32_t asU32(Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

mode_t fileMode(const std::string& octal) noexcept {
  unsigned mode = 0;
  std::from_chars(octal.data(), octal.data() + octal.size(), mode, 8);  // the schema has checked it
  return static_cast<mode_t>(mode);
}

// The listeners read so far, by address.
using ListenerPlaces = std::unordered_map<std::string, config::Position>;

void checkListensOnce(Node node, const net::SocketAddress& address, ListenerPlaces& places, Errors& errors) {
  if (address.family() != AF_UNIX && node["port"].asInt() == 0) return;  // a port of its own for each
  const std::string text = address.toString();
  const auto [earlier, fresh] = places.emplace(text, node.position());
  if (fresh) return;
  errors.push_back(errorAt(node, fmt::format("listens twice on {}, first at {}:{}", text,
                                             earlier->second.file, earlier->second.line)));
}

void readSpeaker(Node root, Node node, const module::Registry& registry, ListenerProtocol& protocol,
                 Errors& errors) {
  for (size_t i = 0; i < registry.size(); ++i) {
    if (!registry.isListener(i)) continue;
    const Node options = node[registry.key(i)];
    if (!options.exists()) continue;
    auto service = registry.module(i).buildListener(options, {root, node});
    if (!service.ok()) {
      errors.push_back(errorAt(options, service.status().message()));
      continue;
    }
    protocol.speaker = registry.key(i);
    protocol.service = std::move(service).value();
  }
}

void readListener(Node root, Node node, const module::Registry& registry, ServerConfig& config,
                  ListenerPlaces& places, Errors& errors) {
  net::ListenOptions options;
  const bool is_unix = node["unix"].isString();
  auto address = is_unix ? net::SocketAddress::parse("unix:" + node["unix"].asString(), 0)
                         : net::SocketAddress::parse(node["address"].asString(), asU32(node["port"]));
  if (!address.ok()) {
    errors.push_back(errorAt(is_unix ? node["unix"] : node["address"], address.status().message()));
    return;
  }
  checkListensOnce(node, *address, places, errors);
  options.address = *address;
  options.backlog = static_cast<int>(node["backlog"].asInt());
  options.tcp_nodelay = node["tcp_nodelay"].asBool();
  options.defer_accept_s = static_cast<int>(node["defer_accept_s"].asInt());
  options.ipv6_only = node["ipv6_only"].asBool();
  options.unix_mode = fileMode(node["unix_mode"].asString());
  config.listeners.push_back(options);
  ListenerProtocol protocol;
  protocol.proxy_protocol = node["proxy_protocol"].asBool();
  const Node trusted = node["proxy_protocol_trusted"];
  protocol.proxy_trusted = net::CidrSet(module::readCidrs(trusted, errors));
  if (!protocol.proxy_protocol && trusted.size() > 0) {
    errors.push_back(
        errorAt(trusted, "\"proxy_protocol_trusted\" says nothing while \"proxy_protocol\" is off"));
  }
  readSpeaker(root, node, registry, protocol, errors);
  config.protocols.push_back(std::move(protocol));
}

// A handed-over socket, or a line written by whoever has it, would be one table's number in another table.
void readFdTable(Node root, ServerConfig& config, Errors& errors) {
  const Node node = root["fd_table"];
  config.own_fd_tables = node.asString() == "per_thread";
  if (!config.own_fd_tables) return;
  if (config.accept != AcceptMode::kReusePort) {
    errors.push_back(errorAt(node,
                             "\"per_thread\" needs \"accept\": \"reuseport\": a connection that the "
                             "main thread has accepted cannot be handed to another table"));
  }
  if (!root["log"]["async"].asBool())
    errors.push_back(
        errorAt(node, "\"per_thread\" needs \"log.async\" on: only one thread has the log's file"));
}

void readLimits(Node node, ServerConfig& config, Errors& errors) {
  net::AddressLimit::Options options;
  options.max = asU32(node["connections_per_address"]);
  options.ipv6_prefix_bits = asU32(node["ipv6_prefix"]);
  options.max_addresses = static_cast<uint64_t>(node["max_addresses"].asInt());
  options.exempt = net::CidrSet(module::readCidrs(node["exempt"], errors));
  if (options.max == 0) return;
  auto limit = net::AddressLimit::create(std::move(options));
  if (limit.ok()) {
    config.address_limit = std::move(limit).value();
  } else {
    errors.push_back(errorAt(node["max_addresses"], limit.status().message()));
  }
}

void readOverload(Node node, ServerConfig& config, Errors& errors) {
  constexpr int64_t kLeastBytes = 16 << 20;  // less than the server itself takes
  const Node max = node["max_memory_bytes"];
  if (max.isInt() && max.asInt() != 0 && max.asInt() < kLeastBytes) {
    errors.push_back(
        errorAt(max, fmt::format("too little to serve with: 0 for no limit, or at least {}", kLeastBytes)));
  }
  config.max_memory_bytes =
      max.isInt() ? std::optional<uint64_t>(static_cast<uint64_t>(max.asInt())) : std::nullopt;
  config.max_loop_lag_ms = asU32(node["max_loop_lag_ms"]);
}

void readProcessors(Node node, const std::vector<int>& allowed, ServerConfig& config, Errors& errors) {
  if (!node.isArray()) {
    if (node.asBool()) config.processors = allowed;
    return;
  }
  for (size_t i = 0; i < node.size(); ++i) {
    const int processor = static_cast<int>(node.at(i).asInt());
    if (std::find(allowed.begin(), allowed.end(), processor) == allowed.end()) {
      errors.push_back(errorAt(node.at(i), fmt::format("this process may not use processor {}, only {}",
                                                       processor, fmt::join(allowed, ", "))));
    }
    config.processors.push_back(processor);
  }
}

void readIdentity(Node root, ServerConfig& config, Errors& errors) {
  const Node user = root["user"], group = root["group"];
  if (user.asString().empty()) {
    if (!group.asString().empty())
      errors.push_back(errorAt(group, "\"group\" says nothing without \"user\": write both"));
    return;
  }
  auto identity = findIdentity(user.asString(), group.asString());
  if (identity.ok()) {
    config.identity = std::move(identity).value();
  } else {
    errors.push_back(errorAt(user, identity.status().message()));
  }
}

push::HubOptions hubOptions(Node node) noexcept {
  push::HubOptions options;
  options.max_history_bytes = static_cast<uint64_t>(node["max_history_bytes"].asInt());
  options.max_channels = asU32(node["max_channels"]);
  options.max_subscribers = asU32(node["max_subscribers"]);
  options.max_subscribers_per_channel = asU32(node["max_subscribers_per_channel"]);
  options.max_backlog_messages = asU32(node["max_backlog_messages"]);
  options.max_backlog_bytes = static_cast<uint64_t>(node["max_backlog_bytes"].asInt());
  options.queue_ms = asU32(node["publish_queue_ms"]);
  options.max_queued_bytes = static_cast<uint64_t>(node["publish_queue_bytes"].asInt());
  options.slow_window_messages = asU32(node["slow_window_messages"]);
  options.slow_window_bytes = static_cast<uint64_t>(node["slow_window_bytes"].asInt());
  options.max_idempotency_keys = asU32(node["max_idempotency_keys"]);
  return options;
}

log::Level levelOf(const std::string& name) noexcept {
  if (name == "DEBUG") return log::Level::kDebug;
  if (name == "WARN") return log::Level::kWarn;
  return name == "ERROR" ? log::Level::kError : log::Level::kInfo;
}

log::Options logOptions(Node node) {
  log::Options options;
  options.level = levelOf(node["level"].asString());
  options.async = node["async"].asBool();
  options.flush_second = static_cast<int>(node["flush_second"].asInt());
  options.roll_size_bytes = static_cast<uint64_t>(node["roll_size"].asInt());
  options.directory = node["path"].asString();
  options.base_name = node["base_name"].asString();
  options.on_full = node["on_full"].asString() == "block" ? log::OnFull::kBlock : log::OnFull::kDrop;
  options.format = node["format"].asString() == "json" ? log::Format::kJson : log::Format::kText;
  options.thread_buffer_bytes = static_cast<size_t>(node["thread_buffer_bytes"].asInt());
  options.keep_files = static_cast<int>(node["keep_files"].asInt());
  return options;
}

}  // namespace

ServerConfigResult readServerConfig(Node root, const module::Registry& registry,
                                    const std::vector<int>& allowed) {
  ServerConfigResult result;
  ServerConfig config;
  Errors& errors = result.errors;
  const Node listen = root["listen"];
  ListenerPlaces places;
  for (size_t i = 0; i < listen.size(); ++i)
    readListener(root, listen.at(i), registry, config, places, errors);
  const Node workers = root["worker_processes"];
  config.io_threads = workers.isInt() ? asU32(workers) : static_cast<uint32_t>(allowed.size());
  const int64_t limit = root["worker_connections"].asInt();
  if (limit == 0) errors.push_back(errorAt(root["worker_connections"], "0 connections: -1 means no limit"));
  config.connection_limit = limit < 0 ? UINT64_MAX : static_cast<uint64_t>(limit);
  config.task_threads = asU32(root["task_processes"]);
  readProcessors(root["cpu_affinity"], allowed, config, errors);
  config.accept = root["accept"].asString() == "reuseport" ? AcceptMode::kReusePort : AcceptMode::kHandoff;
  readFdTable(root, config, errors);
  config.blocked = net::CidrSet(module::readCidrs(root["blocks_ip"], errors));
  readLimits(root["limits"], config, errors);
  readOverload(root["overload"], config, errors);
  config.linger_ms = asU32(root["http"]["linger_timeout_ms"]);
  config.head_timeout_ms = asU32(root["http"]["head_timeout_ms"]);
  config.pid_file = root["pid_file"].asString();
  readIdentity(root, config, errors);
  config.mysql_wanted = root["mysql"]["mysql_started"].asBool();
  if (config.mysql_wanted) DatabaseHost::check(root, errors);
  config.log = logOptions(root["log"]);
  config.push = hubOptions(root["push"]);

  module::ServiceResult service = module::buildService(root, registry);
  config.service = std::move(service.service);
  errors.insert(errors.end(), std::make_move_iterator(service.errors.begin()),
                std::make_move_iterator(service.errors.end()));
  if (errors.empty()) result.config.emplace(std::move(config));
  return result;
}

}  // namespace roost::server
