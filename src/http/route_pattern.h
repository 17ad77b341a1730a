#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::http {

// The path of a route, taken apart:
//
//   /about               that path alone
//   /docs/               everything below it, and itself
//   /user/{id}/posts     {id} stands for one segment that is not empty
//   /file-{id}.json      or for a part of one; there is at most one name in a segment
//   /u/{id}/             everything below it
//   /old/{rest...}       the same as /old/, with a name for what follows, slashes and all; may be empty
//
// "{{" and "}}" stand for braces. Paths are compared with decoded, canonical ones (decodePath), so that is
// how they are written here.
struct RoutePattern {
  struct Segment {
    std::string before;  // all of it where there is no name
    std::string name;
    std::string after;
  };
  std::vector<Segment> segments;
  bool is_prefix = false;  // what is below fits too
  std::string rest_name;   // of what follows a prefix, where it has one

  // Errors, which name the path: one that no request can have, braces that are not closed, a name that is
  // none or comes twice, more than RouteParams::kMost of them.
  static Result<RoutePattern> parse(std::string_view path);

  bool isLiteral() const noexcept { return names().empty(); }
  // In the order of the path.
  std::vector<std::string> names() const;
  // Without the doubled braces. REQUIRES: isLiteral().
  std::string literalPath() const;
  // The same for two patterns that fit the same paths.
  std::string shape() const;
};

}  // namespace roost::http
