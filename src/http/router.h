#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "http/handler.h"

namespace roost::http {

// One route of a site: what answers, and what stands before and behind it. Immutable once its Service is
// built.
struct Route {
  std::string path;  // "/docs/": a prefix; "/about": that path alone
  std::unique_ptr<const Handler> handler;
  std::vector<std::unique_ptr<const RequestFilter>> request_filters;
  std::vector<std::unique_ptr<const ResponseFilter>> response_filters;

  bool isPrefix() const noexcept { return path.back() == '/'; }
};

// A virtual host.
struct Site {
  std::vector<std::string> hosts;  // "example.org", "*.example.org", "*": lower case, without port
  std::vector<std::unique_ptr<Route>> routes;
};

// Finds the route of a request: the site by its host (exact name, then the longest wildcard, then "*", or
// else the first site), then the longest path that fits. Built on the main thread; immutable afterwards, used
// by every loop.
class Router {
 public:
  // REQUIRES: every host is named once in all, every path once in a site (module::buildService reports what
  // is not, with its place); otherwise the first one counts. Errors: no site.
  static Result<Router> build(std::vector<std::unique_ptr<Site>> sites);

  // `host` as in Host or the target, without port, any case; `path` canonical. nullptr: no route fits.
  const Route* find(std::string_view host, std::string_view path) const noexcept;

 private:
  // Keys are views of what sites_ holds, so that looking up allocates nothing.
  using RouteTable = std::unordered_map<std::string_view, const Route*>;
  using HostTable = std::unordered_map<std::string_view, size_t>;  // to an index of index_
  struct SiteIndex {
    RouteTable exact;
    RouteTable prefixes;
    std::vector<size_t> prefix_sizes;  // each once, largest first
  };
  static SiteIndex indexOf(const Site& site);
  void addHost(std::string_view host, size_t site);
  const SiteIndex& siteFor(std::string_view host) const noexcept;

  std::vector<std::unique_ptr<Site>> sites_;
  std::vector<SiteIndex> index_;
  HostTable by_host_;      // exact names
  HostTable by_wildcard_;  // ".example.org"
  size_t default_site_ = 0;
};

}  // namespace roost::http
