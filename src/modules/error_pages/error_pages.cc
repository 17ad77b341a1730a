#include "modules/error_pages/error_pages.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "http/route_pattern.h"

namespace roost::embedded {
extern const std::string_view error_pages_schema;
}

namespace roost::modules::error_pages {
namespace {

struct Statuses {
  int first = 0;
  int last = -1;
};

// Of "404" or "5xx"; none for any other key.
Statuses statusesOf(std::string_view key) noexcept {
  if (key.size() != 3 || (key[0] != '4' && key[0] != '5')) return {};
  const int hundreds = (key[0] - '0') * 100;
  if (key.substr(1) == "xx") return {hundreds, hundreds + 99};
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!digit(key[1]) || !digit(key[2])) return {};
  const int status = hundreds + (key[1] - '0') * 10 + (key[2] - '0');
  return {status, status};
}

Result<http::ErrorPage> pageOf(config::Node node) {
  http::ErrorPage page;
  const std::string& path = (node.isString() ? node : node["path"]).asString();
  const Result<http::RoutePattern> pattern = http::RoutePattern::parse(path);
  if (!pattern.ok()) return pattern.status();
  if (!pattern.value().isLiteral()) {
    return Status::error(fmt::format("path \"{}\": a page has no names in its path", path));
  }
  page.path = pattern.value().literalPath();
  page.status = static_cast<int>(node["status"].asInt());
  if (page.status == 204 || page.status == 205 || page.status == 304) {
    return Status::error(fmt::format("an answer with status {} has no content, and so no page", page.status));
  }
  return page;
}

class ErrorPages final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"error_pages", embedded::error_pages_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node options, const module::RouteContext&) override {
    module::RouteParts parts;
    for (const bool classes : {false, true}) {  // what is said of one status comes before what is said of all
      for (const config::Member member : options.members()) {
        const Statuses statuses = statusesOf(member.key);
        if (statuses.last < statuses.first) {
          return Status::error(fmt::format(
              "\"{}\" is not a status: write one from 400 to 599, \"4xx\" or \"5xx\"", member.key));
        }
        if (classes != (statuses.first != statuses.last)) continue;
        const Result<http::ErrorPage> page = pageOf(member.value);
        if (!page.ok()) return Status::error(fmt::format("\"{}\": {}", member.key, page.status().message()));
        for (int status = statuses.first; status <= statuses.last; ++status) {
          parts.error_pages.emplace(status, page.value());
        }
      }
    }
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeErrorPages() {
  return std::make_unique<ErrorPages>();
}

}  // namespace roost::modules::error_pages
