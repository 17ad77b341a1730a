#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "http/service.h"
#include "log/options.h"
#include "module/registry.h"
#include "net/address_limit.h"
#include "net/cidr_map.h"
#include "net/listener.h"
#include "push/hub.h"
#include "server/privileges.h"

namespace roost::server {

// How the connections of one listener begin, beside how its socket is opened.
struct ListenerProtocol {
  bool proxy_protocol = false;
  net::CidrSet proxy_trusted;  // empty: everybody
  // Who speaks there, and the key that says so; nullptr: HTTP.
  std::string speaker;
  std::unique_ptr<module::ListenerService> service;
};

enum class AcceptMode : uint8_t { kHandoff, kReusePort };

// A loaded configuration in the form the server wants it, checked as far as that goes without touching the
// network.
struct ServerConfig {
  std::vector<net::ListenOptions> listeners;  // at least one
  std::vector<ListenerProtocol> protocols;    // beside it
  uint32_t io_threads = 1;
  uint64_t connection_limit = UINT64_MAX;  // of one IO thread
  uint32_t task_threads = 0;
  std::vector<int> processors;  // IO thread k runs on [k % size]; empty: anywhere
  AcceptMode accept = AcceptMode::kHandoff;
  bool own_fd_tables = false;  // of IO threads; with kReusePort only
  net::CidrSet blocked;
  std::shared_ptr<net::AddressLimit> address_limit;  // nullptr: none
  std::optional<uint64_t> max_memory_bytes = 0;      // 0: whatever there is; nothing: usualMemoryCap()
  uint32_t max_loop_lag_ms = 0;                      // 0: however late
  uint32_t linger_ms = 5000;
  uint32_t head_timeout_ms = 20'000;
  std::string pid_file;              // empty: none
  std::optional<Identity> identity;  // whom root becomes; nothing: none is named
  bool mysql_wanted = false;
  push::HubOptions push;
  log::Options log;
  std::shared_ptr<const http::Service> service;
};

struct ServerConfigResult {
  std::optional<ServerConfig> config;  // nothing when there are errors
  std::vector<config::Diagnostic> errors;
};

// Main thread. `allowed` are the processors this process may use (allowedProcessors). `root` outlives what
// comes of it.
ServerConfigResult readServerConfig(config::Node root, const module::Registry& registry,
                                    const std::vector<int>& allowed);

}  // namespace roost::server
