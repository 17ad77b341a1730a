// links: roost_http
// Lines of text: the first is a path that is asked for, the others are routes, those that begin with '~'
// regular expressions. Whatever can be a route must be found exactly where the plain implementation finds it.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/router.h"
#include "http/target.h"
#include "support/fuzz_require.h"
#include "unit/http/naive_routes.h"

namespace {

using roost::test::require;
using namespace roost::http;  // NOLINT

std::string_view takeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Of a pattern: it has what it promises.
void check(const RoutePattern& pattern, std::string_view path) {
  require(pattern.names().size() <= RouteParams::kMost);
  require(!pattern.shape().empty());
  if (!pattern.isLiteral()) return;
  std::string encoded;
  appendEncodedPath(encoded, pattern.literalPath());
  std::string decoded(encoded.size() + 1, '\0');
  const DecodedPath result = decodePath(encoded, decoded.data(), decoded.size());
  require(result.ok() && decoded.substr(0, result.size) == pattern.literalPath());
  if (path.find_first_of("{}") == std::string_view::npos) require(pattern.literalPath() == path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostRoutes = 16, kMostBytes = 512;
  std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  const std::string_view raw = takeLine(text);
  std::string path(raw.size() + 1, '\0');
  const DecodedPath decoded = decodePath(raw, path.data(), path.size());
  path.resize(decoded.ok() ? decoded.size : 0);

  std::vector<std::unique_ptr<Route>> routes;
  std::vector<test::NaiveRoute> naive;
  while (!text.empty() && routes.size() < kMostRoutes) {
    std::string line(takeLine(text));
    const bool is_regex = !line.empty() && line[0] == '~';
    if (is_regex) line.erase(0, 1);
    if (is_regex) {
      if (!PathRegex::compile(line).ok()) continue;
    } else {
      const roost::Result<RoutePattern> pattern = RoutePattern::parse(line);
      if (!pattern.ok()) continue;
      check(pattern.value(), line);
    }
    auto route = std::make_unique<Route>();
    route->path = line;
    route->is_regex = is_regex;
    routes.push_back(std::move(route));
    naive.push_back({line, is_regex});
  }
  const roost::Result<RouteTable> table = RouteTable::build(routes);
  require(table.ok());
  RouteParams params;
  const Route* found = table.value().find(path, params);
  const auto expected = test::naiveFind(naive, path);
  require((found != nullptr) == expected.has_value());
  if (found == nullptr) return 0;
  require(found == routes[expected->index].get());
  require(params.count == expected->values.size() && params.count == found->param_names.size());
  for (size_t i = 0; i < params.count; ++i) {
    const RouteParams::Param& param = params.params[i];
    require(param.name == found->param_names[i]);
    require(path.substr(param.off, param.len) == expected->values[i]);
  }
  return 0;
}
