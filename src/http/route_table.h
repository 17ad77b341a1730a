#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roost::http {

struct Route;
struct RouteParams;

// The routes of one site, found by path. Immutable once built, used by every loop; borrows the routes.
class RouteTable {
 public:
  explicit RouteTable(const std::vector<std::unique_ptr<Route>>& routes);

  // The exact path, else the longest prefix. nullptr: no route fits.
  const Route* find(std::string_view path, RouteParams& params) const noexcept;

 private:
  // Keys are views of the routes' own paths, so that looking up allocates nothing.
  using PathTable = std::unordered_map<std::string_view, const Route*>;
  PathTable exact_;
  PathTable prefixes_;
  std::vector<size_t> prefix_sizes_;  // each once, largest first
};

}  // namespace roost::http
