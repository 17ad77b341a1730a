#include "http/router.h"

#include <algorithm>
#include <functional>

#include "http/host.h"

namespace roost::http {

Result<Router> Router::build(std::vector<std::unique_ptr<Site>> sites) {
  if (sites.empty()) return Status::error("no site is configured");
  Router router;
  router.sites_ = std::move(sites);
  for (size_t i = 0; i < router.sites_.size(); ++i) {
    for (const std::string& host : router.sites_[i]->hosts) router.addHost(host, i);
    router.index_.push_back(indexOf(*router.sites_[i]));
  }
  return router;
}

void Router::addHost(std::string_view host, size_t site) {
  if (host == "*") {
    default_site_ = site;
  } else if (host.size() > 2 && host[0] == '*' && host[1] == '.') {
    by_wildcard_.emplace(host.substr(1), site);
  } else {
    by_host_.emplace(host, site);
  }
}

Router::SiteIndex Router::indexOf(const Site& site) {
  SiteIndex index;
  for (const std::unique_ptr<Route>& route : site.routes) {
    (route->isPrefix() ? index.prefixes : index.exact).emplace(route->path, route.get());
    if (route->isPrefix()) index.prefix_sizes.push_back(route->path.size());
  }
  std::vector<size_t>& sizes = index.prefix_sizes;
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return index;
}

const Router::SiteIndex& Router::siteFor(std::string_view host) const noexcept {
  const SiteIndex& fallback = index_[default_site_];
  if ((by_host_.empty() && by_wildcard_.empty()) || host.empty() || host.size() > kMaxHostBytes) {
    return fallback;
  }
  char lower[kMaxHostBytes];
  std::string_view name(lower, lowerHost(host, lower));
  if (name.back() == '.') name.remove_suffix(1);
  if (const auto found = by_host_.find(name); found != by_host_.end()) return index_[found->second];
  if (by_wildcard_.empty()) return fallback;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (const auto found = by_wildcard_.find(name.substr(dot)); found != by_wildcard_.end()) {
      return index_[found->second];
    }
  }
  return fallback;
}

const Route* Router::find(std::string_view host, std::string_view path) const noexcept {
  const SiteIndex& site = siteFor(host);
  if (!site.exact.empty()) {
    if (const auto found = site.exact.find(path); found != site.exact.end()) return found->second;
  }
  // One look-up for each size that some prefix has and at which the path has a '/': as many as a
  // configuration has kinds of depth, never as many as it has routes.
  for (const size_t size : site.prefix_sizes) {
    if (size > path.size() || path[size - 1] != '/') continue;
    const auto found = site.prefixes.find(path.substr(0, size));
    if (found != site.prefixes.end()) return found->second;
  }
  return nullptr;
}

}  // namespace roost::http
