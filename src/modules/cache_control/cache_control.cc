#include "modules/cache_control/cache_control.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "http/accept.h"
#include "http/ascii.h"
#include "http/field_syntax.h"
#include "http/glob.h"
#include "http/response_head.h"
#include "module/status_set.h"
#include "modules/cache_control/fingerprint.h"

namespace roost::embedded {
extern const std::string_view cache_control_schema;
}

namespace roost::modules::cache_control {
namespace {

constexpr int64_t kYear_s = 31'536'000;

// What is said of which answers. A condition that is empty always holds.
struct Rule {
  std::vector<std::string> types;
  std::vector<std::string> extensions;
  std::vector<std::string> paths;
  bool fingerprinted = false;
  module::StatusSet statuses;
  std::string value;  // "": no Cache-Control field
  int64_t expires_after_s = http::ResponseHead::kNoExpiry;
  bool overrides = false;
};

std::string_view extensionOf(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view{} : name.substr(dot + 1);
}

template <class Fits>
bool anyFits(const std::vector<std::string>& list, Fits&& fits) {
  return list.empty() || std::any_of(list.begin(), list.end(), fits);
}

bool applies(const Rule& rule, std::string_view path, const http::ResponseHead& head) {
  if (!rule.statuses.has(head.status)) return false;
  const std::string_view type = head.contentType();
  const std::string_view extension = extensionOf(path);
  return anyFits(rule.types, [&](const std::string& range) { return http::rangeCovers(range, type); }) &&
         anyFits(rule.extensions,
                 [&](const std::string& name) { return http::equalsToken(name, extension); }) &&
         anyFits(rule.paths, [&](const std::string& pattern) { return http::globMatches(pattern, path); }) &&
         (!rule.fingerprinted || isFingerprinted(path));
}

// Looks at path and head only: what is kept ready is given its fields once. An Expires that lies in the
// future of each answer is the head's expires_after_s.
class CacheRules final : public http::HeadFilter {
 public:
  explicit CacheRules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  void onHead(std::string_view path, http::ResponseHead& head) const noexcept override {
    const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                   [&](const Rule& candidate) { return applies(candidate, path, head); });
    if (rule == rules_.end()) return;
    if (rule->overrides) {
      head.remove("Cache-Control");
      head.remove("Expires");
    } else if (head.has("Cache-Control") || head.has("Expires")) {
      return;  // the handler has said what it thinks
    }
    if (!rule->value.empty()) head.add("Cache-Control", rule->value);
    head.expires_after_s = rule->expires_after_s;
  }

 private:
  const std::vector<Rule> rules_;
};

std::vector<std::string> textsOf(config::Node list) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < list.size(); ++i) texts.push_back(list.at(i).asString());
  return texts;
}

void addDefaultStatuses(module::StatusSet& statuses) {
  for (const int status : {200, 203, 206, 304}) statuses.add(status);
}

Status readConditions(config::Node node, Rule& rule) {
  rule.types = textsOf(node["types"]);
  rule.extensions = textsOf(node["extensions"]);
  for (std::string& extension : rule.extensions) {
    if (extension[0] == '.') extension.erase(0, 1);
    if (extension.empty() || extension.find_first_of("./") != std::string::npos) {
      return Status::error("an extension is what follows the last dot of a name: \"js\", not \"min.js\"");
    }
  }
  rule.paths = textsOf(node["paths"]);
  rule.fingerprinted = node["fingerprinted"].asBool();
  rule.statuses = module::StatusSet::of(node["status"]);
  if (rule.statuses.empty()) addDefaultStatuses(rule.statuses);
  return {};
}

Status readValue(config::Node node, Rule& rule) {
  const config::Node value = node["value"];
  const config::Node max_age = node["max_age_s"];
  if (!value.isNull() && !max_age.isNull()) {
    return Status::error("\"value\" and \"max_age_s\" exclude each other");
  }
  const bool immutable = node["immutable"].asBool();
  if (!value.isNull()) {
    if (immutable)
      return Status::error("\"immutable\" goes with \"max_age_s\"; \"value\" says all by itself");
    rule.value = value.asString();
    if (!http::isFieldValue(rule.value)) return Status::error("\"value\" begins or ends with a space");
  } else if (max_age.isNull() && !rule.fingerprinted) {
    return Status::error("nothing is said: write \"value\" or \"max_age_s\"");
  } else {
    const int64_t age_s = max_age.isNull() ? kYear_s : max_age.asInt();
    const bool for_good = immutable || (max_age.isNull() && rule.fingerprinted);
    rule.value = (for_good ? "public, max-age=" : "max-age=") + std::to_string(age_s);
    if (for_good) rule.value += ", immutable";
    if (node["expires"].asBool()) rule.expires_after_s = age_s;
    return {};
  }
  if (node["expires"].asBool()) return Status::error("\"expires\" needs \"max_age_s\" to count from");
  return {};
}

Result<Rule> readRule(config::Node node) {
  Rule rule;
  rule.overrides = node["override"].asBool();
  Status status = readConditions(node, rule);
  if (status.ok()) status = readValue(node, rule);
  if (!status.ok()) return status;
  return rule;
}

class CacheControl final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"cache_control", embedded::cache_control_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    std::vector<Rule> rules;
    if (node.isString()) {
      Rule rule;
      rule.value = node.asString();
      addDefaultStatuses(rule.statuses);
      rules.push_back(std::move(rule));
    }
    for (size_t i = 0; i < node.size(); ++i) {
      Result<Rule> rule = readRule(node.at(i));
      if (!rule.ok()) return Status::error("rule " + std::to_string(i) + ": " + rule.status().message());
      rules.push_back(std::move(*rule));
    }
    module::RouteParts parts;
    if (!rules.empty()) parts.head_filters.push_back(std::make_shared<CacheRules>(std::move(rules)));
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeCacheControl() {
  return std::make_unique<CacheControl>();
}

}  // namespace roost::modules::cache_control
