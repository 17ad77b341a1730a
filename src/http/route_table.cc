#include "http/route_table.h"

#include <algorithm>
#include <functional>

#include "http/router.h"

namespace roost::http {

RouteTable::RouteTable(const std::vector<std::unique_ptr<Route>>& routes) {
  for (const std::unique_ptr<Route>& route : routes) {
    (route->isPrefix() ? prefixes_ : exact_).emplace(route->path, route.get());
    if (route->isPrefix()) prefix_sizes_.push_back(route->path.size());
  }
  std::sort(prefix_sizes_.begin(), prefix_sizes_.end(), std::greater<>());
  prefix_sizes_.erase(std::unique(prefix_sizes_.begin(), prefix_sizes_.end()), prefix_sizes_.end());
}

const Route* RouteTable::find(std::string_view path, RouteParams& params) const noexcept {
  params.count = 0;
  if (!exact_.empty()) {
    if (const auto found = exact_.find(path); found != exact_.end()) return found->second;
  }
  // One look-up for each size that some prefix has and at which the path has a '/': as many as a
  // configuration has kinds of depth, never as many as it has routes.
  for (const size_t size : prefix_sizes_) {
    if (size > path.size() || path[size - 1] != '/') continue;
    const auto found = prefixes_.find(path.substr(0, size));
    if (found != prefixes_.end()) return found->second;
  }
  return nullptr;
}

}  // namespace roost::http
