#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/compression.h"
#include "http/handler.h"
#include "http/path_regex.h"
#include "http/route_table.h"
#include "http/text_table.h"

namespace roost::http {

class OriginSet;
struct Site;

// Where the answer to an error comes from.
struct ErrorPage {
  std::string path;  // of the same site, canonical
  int status = 0;    // to answer with; 0: the error's own
};

// One route of a site: what answers, and what stands before and behind it. Immutable once its Service is
// built. Filters are shared by the routes that inherit them.
struct Route {
  std::string path;                      // as RoutePattern reads it, or a regular expression
  bool is_regex = false;                 // PathRegex
  std::vector<std::string> param_names;  // of `path`; set by Router::build
  std::unique_ptr<const Handler> handler;
  std::vector<std::shared_ptr<const RequestFilter>> request_filters;
  std::vector<std::shared_ptr<const HeadFilter>> head_filters;
  std::vector<std::shared_ptr<const ResponseFilter>> response_filters;
  std::vector<std::shared_ptr<const ExchangeObserver>> observers;
  std::shared_ptr<const Compression> compression;  // nullptr: none
  // Whose pages may read and write here besides the route's own (origin_rule.h); nullptr: nobody's.
  std::shared_ptr<const OriginSet> cors;
  std::map<int, ErrorPage> error_pages;  // by status, instead of the built-in page
  // The keys of the modules that made all this, in the same order: names for people.
  struct Keys {
    std::string_view handler;
    std::string_view compression;
    std::vector<std::string_view> request_filters;
    std::vector<std::string_view> head_filters;
    std::vector<std::string_view> response_filters;
    static std::string_view at(const std::vector<std::string_view>& keys, size_t index) noexcept {
      return index < keys.size() ? keys[index] : std::string_view("?");
    }
  };
  Keys keys;
  const Site* site = nullptr;  // set by Router::build

  bool isPrefix() const noexcept { return !is_regex && path.back() == '/'; }
  // Runs the head filters, for an answer that is made ready to be sent many times.
  void filterHead(std::string_view asked_path, ResponseHead& head) const noexcept {
    for (const auto& filter : head_filters) filter->onHead(asked_path, head);
  }
};

// A virtual host.
struct Site {
  std::vector<std::string> hosts;  // "example.org", "*.example.org", "*": lower case, without port
  std::vector<std::unique_ptr<Route>> routes;
  // Answers what no route fits: the site's own filters and observers, and 404.
  Route fallback;
  std::unique_ptr<const RouteTable> table;  // set by Router::build
};

// What the variable parts of a route's path stood for: places in the canonical path. Filled by Router::find.
struct RouteParams {
  static constexpr size_t kMost = Captures::kMost;
  struct Param {
    std::string_view name;  // the route's
    uint32_t off = 0;       // in the path
    uint32_t len = 0;
  };
  std::array<Param, kMost> params;
  uint8_t count = 0;
};

// Finds the route of a request: the site by its host (exact name, then the longest wildcard, then "*", or
// else the first site), then the route by path (RouteTable). Built on the main thread; immutable afterwards,
// used by every loop.
class Router {
 public:
  // REQUIRES: every host is named once in all, every path once in a site (module::buildService reports what
  // is not, with its place); otherwise the first one counts. Errors: no site, a path or an expression that is
  // none.
  static Result<Router> build(std::vector<std::unique_ptr<Site>> sites);

  // `host` as in Host or the target, without port, any case; `path` canonical. Where no route fits it is the
  // site's fallback.
  const Route& find(std::string_view host, std::string_view path, RouteParams& params) const noexcept;
  // Within one site, for a request that has been sent on to another path.
  static const Route& findIn(const Site& site, std::string_view path, RouteParams& params) noexcept;
  // The site that answers for hosts no other site has.
  const Site& defaultSite() const noexcept { return *sites_[default_site_]; }

 private:
  void addHost(std::string_view host, size_t site);
  const Site& siteFor(std::string_view host) const noexcept;

  std::vector<std::unique_ptr<Site>> sites_;
  TextTable by_host_;      // exact names, to an index of sites_
  TextTable by_wildcard_;  // ".example.org"
  size_t default_site_ = 0;
};

}  // namespace roost::http
