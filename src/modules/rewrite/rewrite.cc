#include "modules/rewrite/rewrite.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/path_regex.h"
#include "http/target.h"
#include "http/template.h"

namespace roost::embedded {
extern const std::string_view rewrite_schema;
}

namespace roost::modules::rewrite {
namespace {

struct Rule {
  http::PathRegex match;
  http::Template to;
  std::optional<http::Template> query;
  bool last;
};

// Where a request goes to.
struct Place {
  std::string path;
  std::string query;
  bool has_query = false;
};

// What a request with this path would have, or nothing where none can have it. A rule puts decoded pieces
// together, so that nothing is decoded here again.
std::optional<std::string> canonical(std::string_view path) {
  std::string encoded;
  http::appendEncodedPath(encoded, path);
  std::string clean(encoded.size() + 1, '\0');
  const http::DecodedPath decoded = http::decodePath(encoded, clean.data(), clean.size());
  if (!decoded.ok()) return std::nullopt;
  clean.resize(decoded.size);
  return clean;
}

class RewriteFilter final : public http::RequestFilter {
 public:
  RewriteFilter(std::vector<Rule> rules, bool once) : rules_(std::move(rules)), once_(once) {}

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override {
    if (once_ && exchange.reroutes() > 0) return http::Verdict::kContinue;
    Place place{std::string(exchange.path()), {}, false};
    for (const Rule& rule : rules_) {
      http::Captures captures;
      if (!rule.match.match(place.path, captures)) continue;
      std::optional<Place> next = apply(rule, exchange, captures);
      if (!next.has_value()) {
        exchange.replyError(400);
        return http::Verdict::kReplied;
      }
      // An earlier rule's query stays where this one has none.
      if (!next->has_query && place.has_query) {
        next->query = std::move(place.query);
        next->has_query = true;
      }
      place = std::move(*next);
      if (rule.last) break;
    }
    const bool moved = place.path != exchange.path() || (place.has_query && place.query != exchange.query());
    if (!moved) return http::Verdict::kContinue;
    exchange.reroute(place.path, place.has_query ? &place.query : nullptr);
    return http::Verdict::kReplied;
  }

 private:
  // Nothing where the rule makes no path.
  static std::optional<Place> apply(const Rule& rule, http::Exchange& exchange,
                                    const http::Captures& captures) {
    std::string text;
    rule.to.append(text, exchange, &captures);
    std::optional<std::string> path = canonical(text);
    if (auto* trace = exchange.trace()) {
      trace->note("rewrite: \"" + rule.match.text() + "\" fits, " +
                  (path.has_value() ? "the path becomes " + *path : "but makes no path: " + text));
    }
    if (!path.has_value()) return std::nullopt;
    Place place{std::move(*path), {}, rule.query.has_value()};
    if (place.has_query) rule.query->append(place.query, exchange, &captures);
    return place;
  }

  const std::vector<Rule> rules_;
  const bool once_;
};

Result<Rule> ruleOf(config::Node node, const std::vector<std::string>& params) {
  Result<http::PathRegex> match = http::PathRegex::compile(node["match"].asString());
  if (!match.ok()) return match.status();
  std::vector<std::string> names = match.value().names();
  names.insert(names.end(), params.begin(), params.end());
  const std::string& to = node["to"].asString();
  if (to.find('?') != std::string::npos) {
    return Status::error("to \"" + to + "\": what follows \"?\" belongs into \"query\"");
  }
  if (Status foreign = http::checkForeignVariables(to); !foreign.ok())
    return Status::error("to \"" + to + "\": " + foreign.message());
  Result<http::Template> path = http::Template::compile(to, names);
  if (!path.ok()) return Status::error("to \"" + to + "\": " + path.status().message());
  Rule rule{std::move(match).value(), std::move(path).value(), std::nullopt, node["last"].asBool()};
  if (rule.to.isLiteral() && canonical(rule.to.text()) != rule.to.text()) {
    return Status::error("to \"" + to + "\": no request can have this path");
  }
  if (!node["query"].isString()) return rule;
  Result<http::Template> query = http::Template::compileQuery(node["query"].asString(), names);
  if (!query.ok()) return Status::error("query: " + query.status().message());
  rule.query = std::move(query).value();
  return rule;
}

class Rewrite final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"rewrite", embedded::rewrite_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node options, const module::RouteContext& context) override {
    std::vector<Rule> rules;
    for (size_t i = 0; i < options.size(); ++i) {
      Result<Rule> rule = ruleOf(options.at(i), context.param_names);
      if (!rule.ok()) return rule.status();
      rules.push_back(std::move(rule).value());
    }
    module::RouteParts parts;
    parts.request_filters.push_back(std::make_shared<RewriteFilter>(std::move(rules), context.path.empty()));
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeRewrite() {
  return std::make_unique<Rewrite>();
}

}  // namespace roost::modules::rewrite
