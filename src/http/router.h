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
  // Errors: no site, a host named by two sites, the same path twice in a site.
  static Result<Router> build(std::vector<std::unique_ptr<Site>> sites);

  // `host` as in Host or the target, without port, any case; `path` canonical. nullptr: no route fits.
  const Route* find(std::string_view host, std::string_view path) const noexcept;

 private:
  using RouteTable = std::unordered_map<std::string_view, const Route*>;
  struct SiteIndex {
    RouteTable exact;
    std::vector<const Route*> prefixes;  // longest first
  };
  const SiteIndex& siteFor(std::string_view host) const noexcept;

  std::vector<std::unique_ptr<Site>> sites_;
  std::vector<SiteIndex> index_;
  std::unordered_map<std::string, size_t> by_host_;      // exact names
  std::unordered_map<std::string, size_t> by_wildcard_;  // ".example.org"
  size_t default_site_ = 0;
};

}  // namespace roost::http
