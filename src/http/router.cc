#include "http/router.h"

#include "http/exchange.h"
#include "http/host.h"

namespace roost::http {
namespace {

class NotFound final : public Handler {
 public:
  void handle(Exchange& exchange) const noexcept override { exchange.replyError(404); }
};

}  // namespace

Result<Router> Router::build(std::vector<std::unique_ptr<Site>> sites) {
  if (sites.empty()) return Status::error("no site is configured");
  Router router;
  router.sites_ = std::move(sites);
  for (size_t i = 0; i < router.sites_.size(); ++i) {
    Site& site = *router.sites_[i];
    for (const std::string& host : site.hosts) router.addHost(host, i);
    for (const std::unique_ptr<Route>& route : site.routes) route->site = &site;
    site.fallback.site = &site;
    if (site.fallback.path.empty()) site.fallback.path.push_back('/');
    if (site.fallback.handler == nullptr) site.fallback.handler = std::make_unique<NotFound>();
    Result<RouteTable> table = RouteTable::build(site.routes);
    if (!table.ok()) return table.status();
    site.table = std::make_unique<const RouteTable>(std::move(table).value());
  }
  return router;
}

void Router::addHost(std::string_view host, size_t site) {
  if (host == "*") {
    default_site_ = site;
  } else if (host.size() > 2 && host[0] == '*' && host[1] == '.') {
    by_wildcard_.insert(0, host.substr(1), static_cast<uint32_t>(site));
  } else {
    by_host_.insert(0, host, static_cast<uint32_t>(site));
  }
}

const Site& Router::siteFor(std::string_view host) const noexcept {
  const Site& fallback = *sites_[default_site_];
  if ((by_host_.empty() && by_wildcard_.empty()) || host.empty() || host.size() > kMaxHostBytes) {
    return fallback;
  }
  char lower[kMaxHostBytes];
  std::string_view name(lower, lowerHost(host, lower));
  if (name.back() == '.') name.remove_suffix(1);
  if (const uint32_t found = by_host_.find(0, name); found != TextTable::kNone) return *sites_[found];
  if (by_wildcard_.empty()) return fallback;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const uint32_t found = by_wildcard_.find(0, name.substr(dot));
    if (found != TextTable::kNone) return *sites_[found];
  }
  return fallback;
}

const Route& Router::find(std::string_view host, std::string_view path, RouteParams& params) const noexcept {
  return findIn(siteFor(host), path, params);
}

const Route& Router::findIn(const Site& site, std::string_view path, RouteParams& params) noexcept {
  const Route* route = site.table->find(path, params);
  return route != nullptr ? *route : site.fallback;
}

}  // namespace roost::http
