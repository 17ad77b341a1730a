#include "http/router.h"

#include <algorithm>

namespace roost::http {

Result<Router> Router::build(std::vector<std::unique_ptr<Site>> sites) {
  if (sites.empty()) return Status::error("no site is configured");
  Router router;
  bool has_default = false;
  for (size_t i = 0; i < sites.size(); ++i) {
    SiteIndex index;
    for (const std::string& host : sites[i]->hosts) {
      bool fresh = true;
      if (host == "*") {
        fresh = !has_default;
        has_default = true;
        router.default_site_ = i;
      } else if (host.size() > 2 && host[0] == '*' && host[1] == '.') {
        fresh = router.by_wildcard_.emplace(host.substr(1), i).second;
      } else {
        fresh = router.by_host_.emplace(host, i).second;
      }
      if (!fresh) return Status::error("host \"" + host + "\" is named twice");
    }
    for (const std::unique_ptr<Route>& route : sites[i]->routes) {
      const bool taken = std::any_of(index.prefixes.begin(), index.prefixes.end(),
                                     [&](const Route* other) { return other->path == route->path; }) ||
                         index.exact.count(route->path) > 0;
      if (taken) return Status::error("path \"" + route->path + "\" is routed twice");
      if (route->isPrefix()) {
        index.prefixes.push_back(route.get());
      } else {
        index.exact.emplace(route->path, route.get());
      }
    }
    std::stable_sort(index.prefixes.begin(), index.prefixes.end(),
                     [](const Route* a, const Route* b) { return a->path.size() > b->path.size(); });
    router.index_.push_back(std::move(index));
  }
  router.sites_ = std::move(sites);
  return router;
}

const Router::SiteIndex& Router::siteFor(std::string_view host) const noexcept {
  constexpr size_t kLongestName = 253;  // RFC 1035 section 2.3.4
  if ((by_host_.empty() && by_wildcard_.empty()) || host.empty() || host.size() > kLongestName + 1) {
    return index_[default_site_];
  }
  std::string name(host);
  if (name.back() == '.') name.pop_back();
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (const auto found = by_host_.find(name); found != by_host_.end()) return index_[found->second];
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    if (const auto found = by_wildcard_.find(name.substr(dot)); found != by_wildcard_.end()) {
      return index_[found->second];
    }
  }
  return index_[default_site_];
}

const Route* Router::find(std::string_view host, std::string_view path) const noexcept {
  const SiteIndex& site = siteFor(host);
  if (!site.exact.empty()) {
    if (const auto found = site.exact.find(path); found != site.exact.end()) return found->second;
  }
  for (const Route* route : site.prefixes) {
    if (path.substr(0, route->path.size()) == route->path) return route;
  }
  return nullptr;
}

}  // namespace roost::http
