#include "modules/early_hints/early_hints.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "http/ascii.h"
#include "http/exchange.h"
#include "http/field_syntax.h"
#include "http/glob.h"
#include "http/token_list.h"

namespace roost::embedded {
extern const std::string_view early_hints_schema;
}

namespace roost::modules::early_hints {
namespace {

using http::FieldId;

// Whether a browser is about to show a page: it says so, or wants HTML by name, which programs seldom do.
bool isNavigation(const http::RequestHead& request) noexcept {
  const std::string_view mode = request.get("Sec-Fetch-Mode");
  if (!mode.empty()) return http::equalsToken(mode, "navigate");
  for (http::TokenList list(request, FieldId::kAccept); list.next();) {
    const std::string_view element = list.element();
    if (http::equalsToken(http::trimOws(element.substr(0, element.find(';'))), "text/html")) return true;
  }
  return false;
}

class EarlyHints final : public http::RequestFilter {
 public:
  EarlyHints(std::vector<std::string> links, std::vector<std::string> paths, bool always)
      : links_(std::move(links)), paths_(std::move(paths)), always_(always) {}

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override {
    if (!wanted(exchange)) return http::Verdict::kContinue;
    http::ResponseHead head(103);
    for (const std::string& link : links_) head.add("Link", link);
    if (auto* trace = exchange.trace())
      trace->note("early_hints: 103 with " + std::to_string(links_.size()) + " links");
    exchange.sendInterim(head);
    // The connection may have been found to be gone.
    return exchange.active() ? http::Verdict::kContinue : http::Verdict::kReplied;
  }

 private:
  bool wanted(const http::Exchange& exchange) const noexcept {
    const http::RequestHead& request = exchange.request();
    if (exchange.method() != http::Method::kGet || request.version_minor == 0 || request.has(FieldId::kRange))
      return false;
    const std::string_view path = exchange.path();
    const bool here =
        paths_.empty() || std::any_of(paths_.begin(), paths_.end(), [path](const std::string& pattern) {
          return http::globMatches(pattern, path);
        });
    return here && (always_ || isNavigation(request));
  }

  const std::vector<std::string> links_;
  const std::vector<std::string> paths_;
  const bool always_;
};

// RFC 8288 section 3, as far as a mistake is likely: the target in brackets and a relation.
Status checkLink(const std::string& link) {
  const bool has_target = link[0] == '<' && link.find('>') != std::string::npos;
  if (!http::isFieldValue(link) || !has_target || link.find("rel=", link.find('>')) == std::string::npos) {
    return Status::error("\"" + link + "\" is not a link: write \"</style.css>; rel=preload; as=style\"");
  }
  return {};
}

class EarlyHintsModule final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"early_hints", embedded::early_hints_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    std::vector<std::string> links;
    for (size_t i = 0; i < node["link"].size(); ++i) {
      links.push_back(node["link"].at(i).asString());
      Status status = checkLink(links.back());
      if (!status.ok()) return status;
    }
    std::vector<std::string> paths;
    for (size_t i = 0; i < node["paths"].size(); ++i) paths.push_back(node["paths"].at(i).asString());
    module::RouteParts parts;
    parts.request_filters.push_back(std::make_shared<EarlyHints>(std::move(links), std::move(paths),
                                                                 node["when"].asString() == "always"));
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeEarlyHints() {
  return std::make_unique<EarlyHintsModule>();
}

}  // namespace roost::modules::early_hints
