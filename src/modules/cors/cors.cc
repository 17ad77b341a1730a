#include "modules/cors/cors.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/field_syntax.h"
#include "http/origins.h"
#include "http/token_list.h"

namespace roost::embedded {
extern const std::string_view cors_schema;
}

namespace roost::modules::cors {
namespace {

using http::FieldId;

constexpr std::string_view kAllowOrigin = "Access-Control-Allow-Origin";
constexpr std::string_view kAskedMethod = "Access-Control-Request-Method";
constexpr std::string_view kAskedHeaders = "Access-Control-Request-Headers";

// What one "cors" says. Immutable; shared by its filters.
struct Policy {
  http::OriginSet origins;
  bool credentials = false;
  bool any_method = false;
  bool any_header = false;
  bool private_network = false;
  std::string methods;  // as the fields' values have them; empty: the field is not sent
  std::string headers;
  std::string expose;
  std::string max_age;

  // The same for everybody, so that a cache need not tell origins apart.
  bool isForAll() const noexcept { return origins.any() && !credentials; }
};

// The request's origin; empty where there is none, or more than one.
std::string_view originOf(const http::RequestHead& request) noexcept {
  const http::Field* field = request.find(FieldId::kOrigin);
  return field == nullptr || request.nextOf(*field) != nullptr ? std::string_view{} : request.value(*field);
}

bool isTokenList(std::string_view text) noexcept {
  http::TokenList list(text);
  while (list.next()) {
    if (!http::isToken(list.element())) return false;
  }
  return true;
}

// Answers of anything but a preflight where every origin is allowed.
class ForAll final : public http::HeadFilter {
 public:
  explicit ForAll(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}
  void onHead(std::string_view, http::ResponseHead& head) const noexcept override {
    head.remove(kAllowOrigin);
    head.add(kAllowOrigin, "*");
    if (!policy_->expose.empty()) head.add("Access-Control-Expose-Headers", policy_->expose);
  }

 private:
  const std::shared_ptr<const Policy> policy_;
};

// The same where it depends on the origin. Vary goes out in every case, or a cache would give one origin's
// answer to another.
class ByOrigin final : public http::ResponseFilter {
 public:
  explicit ByOrigin(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}
  void onHead(http::Exchange& exchange, http::ResponseHead& head) const noexcept override {
    head.add("Vary", "Origin");
    head.remove(kAllowOrigin);
    const std::string_view origin = originOf(exchange.request());
    if (!policy_->origins.has(origin)) return;
    head.add(kAllowOrigin, origin);
    if (policy_->credentials) head.add("Access-Control-Allow-Credentials", "true");
    if (!policy_->expose.empty()) head.add("Access-Control-Expose-Headers", policy_->expose);
  }

 private:
  const std::shared_ptr<const Policy> policy_;
};

// Answers preflights, whatever the handler thinks of OPTIONS. Allow-Origin and Vary: Origin come from the
// filters of every answer.
class Preflight final : public http::RequestFilter {
 public:
  explicit Preflight(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override {
    const http::RequestHead& request = exchange.request();
    if (exchange.method() != http::Method::kOptions || !request.has(FieldId::kOrigin)) {
      return http::Verdict::kContinue;
    }
    const std::string_view method = request.get(kAskedMethod);
    if (method.empty()) return http::Verdict::kContinue;
    answer(exchange, method);
    return http::Verdict::kReplied;
  }

 private:
  void answer(http::Exchange& exchange, std::string_view method) const {
    const http::RequestHead& request = exchange.request();
    http::ResponseHead head(204);
    const bool echoes_method = policy_->any_method && policy_->credentials;
    const bool echoes_headers = policy_->any_header && policy_->credentials;
    if (echoes_method) head.add("Vary", kAskedMethod);
    if (echoes_headers) head.add("Vary", kAskedHeaders);
    const std::string_view origin = originOf(request);
    const bool allowed = policy_->origins.has(origin);
    if (auto* trace = exchange.trace()) {
      trace->note("cors: a preflight of the origin \"" + std::string(origin) +
                  (allowed ? "\" is allowed" : "\" is not allowed"));
    }
    if (!allowed) return exchange.begin(head, true);
    if (echoes_method) {
      if (http::isToken(method)) head.add("Access-Control-Allow-Methods", method);
    } else if (!policy_->methods.empty()) {
      head.add("Access-Control-Allow-Methods", policy_->methods);
    }
    const std::string_view asked = request.get(kAskedHeaders);
    if (echoes_headers) {
      if (!asked.empty() && isTokenList(asked)) head.add("Access-Control-Allow-Headers", asked);
    } else if (!policy_->headers.empty()) {
      head.add("Access-Control-Allow-Headers", policy_->headers);
    }
    if (!policy_->max_age.empty()) head.add("Access-Control-Max-Age", policy_->max_age);
    if (policy_->private_network && request.get("Access-Control-Request-Private-Network") == "true") {
      head.add("Access-Control-Allow-Private-Network", "true");
    }
    exchange.begin(head, true);
  }

  const std::shared_ptr<const Policy> policy_;
};

// Joins a list of tokens. `any` is set where "*" is among them.
Result<std::string> joined(config::Node list, std::string_view key, bool& any) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string& name = list.at(i).asString();
    if (!http::isToken(name)) return Status::error(std::string(key) + ": \"" + name + "\" is not a name");
    any = any || name == "*";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Status readLists(config::Node node, Policy& policy) {
  bool any_exposed = false;
  Result<std::string> methods = joined(node["methods"], "methods", policy.any_method);
  if (!methods.ok()) return methods.status();
  Result<std::string> headers = joined(node["headers"], "headers", policy.any_header);
  if (!headers.ok()) return headers.status();
  Result<std::string> expose = joined(node["expose"], "expose", any_exposed);
  if (!expose.ok()) return expose.status();
  if (any_exposed && policy.credentials) {
    return Status::error(
        "\"expose\": with \"credentials\" a browser takes \"*\" for a name; list the fields");
  }
  policy.methods = std::move(*methods);
  policy.headers = std::move(*headers);
  policy.expose = std::move(*expose);
  return {};
}

Result<Policy> readPolicy(config::Node node) {
  Policy policy;
  std::vector<std::string> texts;
  for (size_t i = 0; i < node["origins"].size(); ++i) texts.push_back(node["origins"].at(i).asString());
  Result<http::OriginSet> origins = http::OriginSet::compile(texts);
  if (!origins.ok()) return origins.status();
  policy.origins = std::move(*origins);
  policy.credentials = node["credentials"].asBool();
  if (policy.credentials && policy.origins.any()) {
    return Status::error(
        "\"credentials\" with the origin \"*\" would let every page on the web act for whoever is logged in; "
        "list "
        "the origins");
  }
  policy.private_network = node["private_network"].asBool();
  if (!node["max_age_s"].isNull()) policy.max_age = std::to_string(node["max_age_s"].asInt());
  Status status = readLists(node, policy);
  if (!status.ok()) return status;
  return policy;
}

class Cors final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"cors", embedded::cors_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    Result<Policy> read = readPolicy(node);
    if (!read.ok()) return read.status();
    const auto policy = std::make_shared<const Policy>(std::move(*read));
    module::RouteParts parts;
    parts.cors = {policy, &policy->origins};
    parts.request_filters.push_back(std::make_shared<Preflight>(policy));
    if (policy->isForAll()) {
      parts.head_filters.push_back(std::make_shared<ForAll>(policy));
    } else {
      parts.response_filters.push_back(std::make_shared<ByOrigin>(policy));
    }
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeCors() {
  return std::make_unique<Cors>();
}

}  // namespace roost::modules::cors
