#include "http/route_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "http/router.h"

namespace roost::http {
namespace {

void setParam(RouteParams& params, std::string_view name, size_t off, size_t len) noexcept {
  params.params[params.count++] = {name, static_cast<uint32_t>(off), static_cast<uint32_t>(len)};
}

}  // namespace

// One look-up in the tree, and the names' values on the way to where it is.
struct RouteTable::Search {
  struct Value {
    size_t off;
    size_t len;
  };
  std::string_view path;
  std::array<Value, RouteParams::kMost> values;
  size_t count = 0;
};

Result<RouteTable> RouteTable::build(const std::vector<std::unique_ptr<Route>>& routes) {
  RouteTable table;
  table.newNode();
  std::vector<PathRegex> regexes;
  for (const std::unique_ptr<Route>& route : routes) {
    const auto index = static_cast<uint32_t>(table.routes_.size());
    table.routes_.push_back(route.get());
    if (route->is_regex) {
      Result<PathRegex> regex = PathRegex::compile(route->path);
      if (!regex.ok()) return regex.status();
      route->param_names = regex.value().names();
      regexes.push_back(std::move(regex).value());
      table.regex_routes_.push_back(index);
      continue;
    }
    const Result<RoutePattern> pattern = RoutePattern::parse(route->path);
    if (!pattern.ok()) return pattern.status();
    route->param_names = pattern.value().names();
    table.add(index, pattern.value());
  }
  Result<PathRegexList> list = PathRegexList::build(std::move(regexes));
  if (!list.ok()) return list.status();
  table.regexes_ = std::move(list).value();
  return table;
}

uint32_t RouteTable::newNode() {
  nodes_.emplace_back();
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void RouteTable::add(uint32_t index, const RoutePattern& pattern) {
  if (pattern.isLiteral() && !pattern.is_prefix) {
    exact_.insert(0, pattern.literalPath(), index);
    return;
  }
  uint32_t node = 0;
  for (const RoutePattern::Segment& segment : pattern.segments) node = childOf(node, segment);
  uint32_t& place = pattern.is_prefix ? nodes_[node].below : nodes_[node].whole;
  if (place == kNoRoute) place = index;
}

uint32_t RouteTable::childOf(uint32_t node, const RoutePattern::Segment& segment) {
  if (segment.name.empty()) {
    uint32_t child = texts_.find(node, segment.before);
    if (child != TextTable::kNone) return child;
    child = newNode();
    nodes_[node].has_texts = true;
    return texts_.insert(node, segment.before, child);
  }
  if (segment.before.empty() && segment.after.empty()) {
    if (nodes_[node].any == TextTable::kNone) {
      const uint32_t child = newNode();
      nodes_[node].any = child;
    }
    return nodes_[node].any;
  }
  for (const Affixed& known : nodes_[node].affixed) {
    if (known.before == segment.before && known.after == segment.after) return known.node;
  }
  const uint32_t child = newNode();
  std::vector<Affixed>& affixed = nodes_[node].affixed;
  const auto sizeOf = [](const auto& a) {
    return std::make_pair(a.before.size() + a.after.size(), a.before.size());
  };
  const auto behind = std::find_if(affixed.begin(), affixed.end(),
                                   [&](const Affixed& other) { return sizeOf(other) < sizeOf(segment); });
  affixed.insert(behind, {segment.before, segment.after, child});
  return child;
}

const Route* RouteTable::find(std::string_view path, RouteParams& params) const noexcept {
  params.count = 0;
  if (path.empty() || path[0] != '/') return nullptr;
  if (const uint32_t exact = exact_.find(0, path); exact != kNoRoute) return routes_[exact];
  if (!regexes_.empty()) {
    Captures captures;
    if (const size_t fits = regexes_.find(path, captures); fits != PathRegexList::kNone) {
      for (size_t i = 0; i < captures.names->size(); ++i) {
        const std::string_view value = captures.values[i];  // null where its group took no part
        const auto off = value.data() == nullptr ? 0 : static_cast<size_t>(value.data() - path.data());
        setParam(params, (*captures.names)[i], off, value.size());
      }
      return routes_[regex_routes_[fits]];
    }
  }
  Search search{path, {}, 0};
  const uint32_t found = walk(search, 0, 1);
  if (found == kNoRoute) return nullptr;
  const std::vector<std::string>& names = routes_[found]->param_names;
  for (size_t i = 0; i < search.count; ++i) {
    setParam(params, names[i], search.values[i].off, search.values[i].len);
  }
  return routes_[found];
}

// The best of what fits below `node` the path from `at` on, where a segment begins. Leaves in `search` what
// the names stand for.
uint32_t RouteTable::walk(Search& search, uint32_t node_index, size_t at) const noexcept {
  const Node& node = nodes_[node_index];
  const size_t end = std::min(search.path.find('/', at), search.path.size());
  const std::string_view segment = search.path.substr(at, end - at);
  if (!segment.empty() && node.has_texts) {
    const uint32_t child = texts_.find(node_index, segment);
    if (child != TextTable::kNone) {
      if (const uint32_t found = enter(search, child, end); found != kNoRoute) return found;
    }
  }
  const size_t known = search.count;
  for (const Affixed& affixed : node.affixed) {
    const size_t before = affixed.before.size(), around = before + affixed.after.size();
    if (segment.size() <= around || segment.substr(0, before) != affixed.before) continue;
    if (segment.substr(segment.size() - affixed.after.size()) != affixed.after) continue;
    search.values[search.count++] = {at + before, segment.size() - around};
    if (const uint32_t found = enter(search, affixed.node, end); found != kNoRoute) return found;
    search.count = known;
  }
  if (!segment.empty() && node.any != TextTable::kNone) {
    search.values[search.count++] = {at, segment.size()};
    if (const uint32_t found = enter(search, node.any, end); found != kNoRoute) return found;
    search.count = known;
  }
  if (node.below == kNoRoute) return kNoRoute;
  if (routes_[node.below]->param_names.size() > search.count) {
    search.values[search.count++] = {at, search.path.size() - at};
  }
  return node.below;
}

// The same behind the segment that ends at `end`.
uint32_t RouteTable::enter(Search& search, uint32_t node, size_t end) const noexcept {
  return end == search.path.size() ? nodes_[node].whole : walk(search, node, end + 1);
}

}  // namespace roost::http
