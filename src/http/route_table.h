#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/path_regex.h"
#include "http/route_pattern.h"
#include "http/text_table.h"

namespace roost::http {

struct Route;
struct RouteParams;

// The routes of one site, found by path. The most specific answers:
//
//   1. the path that is named as it is ("/about");
//   2. the first regular expression that fits, in the order of the configuration;
//   3. of the patterns and prefixes the one that is more exact in the first segment, from the left, in which
//      they differ: a text before "a{name}b" (the longer its text, the earlier), that before "{name}", that
//      before "everything below".
//
// Exact paths are in one hash table; patterns and prefixes are a tree of segments, with one hash table for
// the texts of all its nodes: what a look-up costs depends on the path and not on how many routes there are.
// Where a branch of the tree leads nowhere the next is tried: no node is visited twice.
//
// Immutable once built, used by every loop; borrows the routes.
class RouteTable {
 public:
  // Sets Route::param_names. Of two that fit the same paths the first counts. Errors: a path or an expression
  // that is none.
  static Result<RouteTable> build(const std::vector<std::unique_ptr<Route>>& routes);

  // nullptr: no route fits.
  const Route* find(std::string_view path, RouteParams& params) const noexcept;

 private:
  static constexpr uint32_t kNoRoute = TextTable::kNone;
  // A segment of which only a part is a name.
  struct Affixed {
    std::string before;
    std::string after;
    uint32_t node;
  };
  // What has been read of the paths that lead here.
  struct Node {
    uint32_t whole = kNoRoute;        // a path that ends here
    uint32_t below = kNoRoute;        // whatever follows
    bool has_texts = false;           // the next segment may be a text: in texts_, beside this node's index
    std::vector<Affixed> affixed;     // or one of these, the most specific first
    uint32_t any = TextTable::kNone;  // or any that is not empty: that node
  };
  struct Search;

  void add(uint32_t index, const RoutePattern& pattern);
  uint32_t childOf(uint32_t node, const RoutePattern::Segment& segment);
  uint32_t newNode();
  uint32_t walk(Search& search, uint32_t node, size_t at) const noexcept;
  uint32_t enter(Search& search, uint32_t node, size_t end) const noexcept;

  std::vector<const Route*> routes_;
  TextTable exact_;
  PathRegexList regexes_;
  std::vector<uint32_t> regex_routes_;
  TextTable texts_;
  std::vector<Node> nodes_;
};

}  // namespace roost::http
