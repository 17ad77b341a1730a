#include "module/service_builder.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "http/client_address.h"
#include "http/host.h"
#include "http/path_regex.h"
#include "http/route_pattern.h"
#include "module/cidr_list.h"

namespace roost::module {
namespace {

using config::errorAt;
using config::Node;

uint32_t asU32(Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

http::ServiceOptions optionsOf(Node http_node) {
  http::ServiceOptions options;
  options.head_limits.max_head_bytes = asU32(http_node["max_head_size_bytes"]);
  options.head_limits.max_fields = static_cast<uint16_t>(http_node["max_fields"].asInt());
  options.head_limits.max_target_bytes = asU32(http_node["max_target_size_bytes"]);
  options.max_body_bytes = static_cast<uint64_t>(http_node["max_body_size"].asInt());
  options.max_discard_body_bytes = static_cast<uint64_t>(http_node["max_discard_body_bytes"].asInt());
  options.head_timeout_ms = asU32(http_node["head_timeout_ms"]);
  options.body_timeout_ms = asU32(http_node["body_timeout_ms"]);
  options.keep_alive_timeout_ms = asU32(http_node["keep_alive_timeout_ms"]);
  options.min_body_bytes_per_s = asU32(http_node["min_body_rate"]);
  options.min_send_bytes_per_s = asU32(http_node["min_send_rate"]);
  options.min_rate_window_ms = asU32(http_node["min_rate_window_ms"]);
  options.send_timeout_ms = asU32(http_node["send_timeout_ms"]);
  options.max_requests_per_connection = asU32(http_node["max_requests_per_connection"]);
  options.server_header = http_node["server_header"].asString();
  return options;
}

// The place of an earlier mention, for "named twice".
std::string placeOf(Node node) {
  const config::Position position = node.position();
  return fmt::format("{}:{}", position.file, position.line);
}

// Builds one Service; lives for one call.
class Builder {
 public:
  Builder(Node root, const Registry& registry) : root_(root), registry_(registry) {}

  ServiceResult run() {
    const Node http_node = root_["http"];
    http::ServiceOptions options = optionsOf(http_node);
    options.client_address = clientAddress(http_node["client_address"]);
    server_header_ = options.server_header;
    std::vector<std::unique_ptr<http::Site>> sites;
    const Parts http_parts = partsOf(http_node, {}, {{}, root_, {}, server_header_});
    const Node site_nodes = http_node["sites"];
    for (size_t i = 0; i < site_nodes.size(); ++i) sites.push_back(buildSite(site_nodes.at(i), http_parts));
    ServiceResult result;
    if (errors_.empty()) {
      Result<http::Router> router = http::Router::build(std::move(sites));
      if (router.ok()) {
        result.service = std::make_shared<const http::Service>(std::move(options), std::move(router).value());
      } else {
        errors_.push_back(errorAt(site_nodes, router.status().message()));
      }
    }
    result.errors = std::move(errors_);
    return result;
  }

 private:
  // What each module has made of its key, by its place in the registry; nullptr where the key is not there.
  using Parts = std::vector<std::shared_ptr<RouteParts>>;

  // The modules' keys in `node`, over what stands above it.
  Parts partsOf(Node node, Parts parts, const RouteContext& context) {
    parts.resize(registry_.size());
    for (size_t i = 0; i < registry_.size(); ++i) {
      const Node options = node[registry_.key(i)];
      if (!options.exists()) continue;
      parts[i] = nullptr;
      if (options.isNull()) continue;
      Result<RouteParts> made = registry_.module(i).build(options, context);
      if (!made.ok()) {
        errors_.push_back(errorAt(options, made.status().message()));
        continue;
      }
      parts[i] = std::make_shared<RouteParts>(std::move(made).value());
      if (registry_.module(i).usesDatabase() && !root_["mysql"]["mysql_started"].asBool()) {
        errors_.push_back(errorAt(options, fmt::format("\"{}\" needs the database, and "
                                                       "\"mysql.mysql_started\" is off: turn it on",
                                                       registry_.key(i))));
      }
    }
    return parts;
  }

  std::shared_ptr<const http::ClientAddress> clientAddress(Node node) {
    if (!node.isObject()) return nullptr;
    http::ClientAddress::Options options;
    options.trusted = net::CidrSet(readCidrs(node["trusted_proxies"], errors_));
    options.header = node["header"].asString();
    options.scheme_header = node["scheme_header"].asString();
    options.take_request_id = node["request_id"].asBool();
    return std::make_shared<const http::ClientAddress>(std::move(options));
  }

  std::unique_ptr<http::Site> buildSite(Node node, const Parts& http_parts) {
    auto site = std::make_unique<http::Site>();
    const Parts site_parts = partsOf(node, http_parts, {{}, root_, node, server_header_});
    take(site_parts, site->fallback);
    const Node hosts = node["host"];
    for (size_t i = 0; i < hosts.size(); ++i) addHost(*site, hosts.at(i));
    std::unordered_map<std::string, Node> shapes;
    const Node routes = node["routes"];
    for (size_t i = 0; i < routes.size(); ++i) {
      const std::optional<Address> address = addressOf(routes.at(i), shapes);
      if (!address.has_value()) continue;
      std::unique_ptr<http::Route> route = buildRoute(routes.at(i), node, site_parts, *address);
      if (route != nullptr) site->routes.push_back(std::move(route));
    }
    return site;
  }

  void addHost(http::Site& site, Node node) {
    const std::string& text = node.asString();
    std::string host = text;
    if (text != "*") {
      const bool wildcard = text.substr(0, 2) == "*.";
      const std::string_view name = wildcard ? std::string_view(text).substr(2) : std::string_view(text);
      const http::Authority authority = http::parseHost(name);
      const bool is_name = authority.ok() && authority.kind != http::HostKind::kEmpty &&
                           name.find('*') == std::string_view::npos;
      if (!is_name || (wildcard && authority.kind != http::HostKind::kRegName)) {
        errors_.push_back(errorAt(
            node,
            fmt::format("\"{}\" is not a host: write \"example.org\", \"*.example.org\", \"192.0.2.1\", "
                        "\"[2001:db8::1]\" or \"*\"",
                        text)));
        return;
      }
      if (authority.has_port || name.back() == ':') {
        errors_.push_back(errorAt(node, fmt::format("\"{}\": a host is named without its port", text)));
        return;
      }
      char lower[http::kMaxHostBytes];
      host = (wildcard ? "*." : "") + std::string(lower, http::lowerHost(authority.host, lower));
    }
    const auto [earlier, fresh] = hosts_.emplace(host, node);
    if (!fresh) {
      errors_.push_back(errorAt(
          node, fmt::format("host \"{}\" is named twice, first at {}", host, placeOf(earlier->second))));
      return;
    }
    site.hosts.push_back(std::move(host));
  }

  // A route's path or expression, taken apart.
  struct Address {
    std::string path;   // Route::path
    std::string plain;  // RouteContext::path
    bool is_regex = false;
    std::vector<std::string> param_names;
  };

  // Nothing after an error.
  std::optional<Address> addressOf(Node route, std::unordered_map<std::string, Node>& shapes) {
    const Node path = route["path"], regex = route["regex"];
    if (path.isString() == regex.isString()) {
      errors_.push_back(path.isString() ? errorAt(regex, "\"path\" and \"regex\" exclude each other")
                                        : errorAt(route, "a route needs a \"path\" or a \"regex\""));
      return std::nullopt;
    }
    Address address;
    Status status;
    std::string shape;
    if (regex.isString()) {
      address.is_regex = true;
      address.path = address.plain = regex.asString();
      const Result<http::PathRegex> compiled = http::PathRegex::compile(address.path);
      status = compiled.status();
      if (compiled.ok()) address.param_names = compiled.value().names();
      shape = '^' + address.path;
    } else {
      address.path = address.plain = path.asString();
      const Result<http::RoutePattern> pattern = http::RoutePattern::parse(address.path);
      status = pattern.status();
      if (pattern.ok()) {
        address.param_names = pattern.value().names();
        if (pattern.value().isLiteral()) address.plain = pattern.value().literalPath();
        shape = pattern.value().shape();
      }
    }
    if (!status.ok()) {
      errors_.push_back(errorAt(address.is_regex ? regex : path, status.message()));
      return std::nullopt;
    }
    if (!isFresh(address, shape, address.is_regex ? regex : path, shapes)) return std::nullopt;
    return address;
  }

  bool isFresh(const Address& address, const std::string& shape, Node node,
               std::unordered_map<std::string, Node>& shapes) {
    const auto [earlier, fresh] = shapes.emplace(shape, node);
    if (fresh) return true;
    const std::string& first = earlier->second.asString();
    const char* kind = address.is_regex ? "regex" : "path";
    errors_.push_back(errorAt(node, first == address.path
                                        ? fmt::format("{} \"{}\" is routed twice, first at {}", kind, first,
                                                      placeOf(earlier->second))
                                        : fmt::format("path \"{}\" fits the same requests as \"{}\" at {}",
                                                      address.path, first, placeOf(earlier->second))));
    return false;
  }

  // nullptr after an error.
  std::unique_ptr<http::Route> buildRoute(Node node, Node site, const Parts& site_parts,
                                          const Address& address) {
    auto route = std::make_unique<http::Route>();
    route->path = address.path;
    route->is_regex = address.is_regex;
    const size_t errors_before = errors_.size();
    take(partsOf(node, site_parts,
                 {address.plain, root_, site, server_header_, address.is_regex, address.param_names}),
         *route);
    if (errors_.size() > errors_before) return nullptr;
    if (route->handler != nullptr) return route;
    errors_.push_back(errorAt(node, fmt::format("path \"{}\" has no handler", route->path)));
    return nullptr;
  }

  // Filters come in the order of the registry, whatever the order of keys in the file.
  void take(const Parts& parts, http::Route& route) const {
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    const auto name = [](auto& keys, size_t count, std::string_view key) { keys.resize(count, key); };
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::shared_ptr<RouteParts>& part = parts[i];
      if (part == nullptr) continue;
      if (part->handler != nullptr) {
        route.handler = std::move(part->handler);
        route.keys.handler = registry_.key(i);
      }
      append(route.request_filters, part->request_filters);
      append(route.head_filters, part->head_filters);
      append(route.response_filters, part->response_filters);
      append(route.observers, part->observers);
      if (part->compression != nullptr) {
        route.compression = part->compression;
        route.keys.compression = registry_.key(i);
      }
      if (part->cors != nullptr) route.cors = part->cors;
      name(route.keys.request_filters, route.request_filters.size(), registry_.key(i));
      name(route.keys.head_filters, route.head_filters.size(), registry_.key(i));
      name(route.keys.response_filters, route.response_filters.size(), registry_.key(i));
      route.error_pages.insert(part->error_pages.begin(), part->error_pages.end());
    }
  }

  const Node root_;
  const Registry& registry_;
  std::string server_header_;
  std::vector<config::Diagnostic> errors_;
  std::unordered_map<std::string, Node> hosts_;
};

}  // namespace

ServiceResult buildService(Node root, const Registry& registry) {
  return Builder(root, registry).run();
}

}  // namespace roost::module
