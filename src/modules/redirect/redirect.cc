#include "modules/redirect/redirect.h"

#include <algorithm>
#include <string>
#include <utility>

#include "http/exchange.h"
#include "http/template.h"

namespace roost::embedded {
extern const std::string_view redirect_schema;
}

namespace roost::modules::redirect {
namespace {

class RedirectHandler final : public http::Handler {
 public:
  RedirectHandler(http::Template to, int status, bool keep_query, bool needs_host)
      : to_(std::move(to)), status_(status), keep_query_(keep_query), needs_host_(needs_host) {}

  void handle(http::Exchange& exchange) const noexcept override {
    // "https:///path" would be read with the path's first segment for a host.
    if (needs_host_ && exchange.host().empty()) return exchange.replyError(400);
    std::string location;
    to_.appendUri(location, exchange);
    if (keep_query_ && !exchange.query().empty()) addQuery(location, exchange.query());
    if (exchange.trace() != nullptr) exchange.trace()->note("redirects to " + location);
    http::ResponseHead head(status_);
    head.add("Location", location);
    exchange.replyError(status_, &head);
  }

 private:
  // In front of a fragment.
  static void addQuery(std::string& location, std::string_view query) {
    std::string added(location.find('?') < location.find('#') ? "&" : "?");
    http::appendEscaped(added, query, http::Escape::kUri);
    location.insert(std::min(location.find('#'), location.size()), added);
  }

  const http::Template to_;
  const int status_;
  const bool keep_query_;
  const bool needs_host_;
};

// A path, a variable that may be one, or a URI of the schemes that redirects are for.
bool leadsSomewhere(std::string_view to) noexcept {
  if (to.empty()) return false;
  return to.front() == '/' || to.front() == '{' || to.substr(0, 7) == "http://" ||
         to.substr(0, 8) == "https://";
}

class Redirect final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"redirect", embedded::redirect_schema, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node options, const module::RouteContext& context) override {
    const std::string& text = options["to"].asString();
    if (!leadsSomewhere(text)) {
      return Status::error("to \"" + text +
                           "\": write a path (\"/new\"), or a URI that begins with http:// or https://");
    }
    Result<http::Template> to = http::Template::compileUri(text, context.param_names);
    if (!to.ok()) return Status::error("to \"" + text + "\": " + to.status().message());
    module::RouteParts parts;
    parts.handler = std::make_unique<RedirectHandler>(
        std::move(to).value(), static_cast<int>(options["status"].asInt()), options["keep_query"].asBool(),
        text.find("{host}") != std::string::npos);
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeRedirect() {
  return std::make_unique<Redirect>();
}

}  // namespace roost::modules::redirect
