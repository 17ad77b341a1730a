#include "modules/mysql/describe_reply.h"

#include <string_view>

#include "http/accept.h"
#include "http/conditional.h"
#include "http/exchange.h"
#include "modules/mysql/entity_tag.h"
#include "modules/mysql/problem_reply.h"
#include "tables/openapi.h"

namespace roost::embedded {
extern const std::string_view mysql_describe_page;
extern const std::string_view mysql_describe_script;
extern const std::string_view mysql_describe_style;
}  // namespace roost::embedded

namespace roost::modules::mysql {
namespace {

constexpr std::string_view kAllow = "OPTIONS, GET, HEAD";
// The page takes everything from its own origin, and nothing can be put into it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

struct Part {
  std::string_view type;
  std::string_view content;
  std::string_view tag_suffix = {};
  uint64_t hash = 0;
  bool by_accept = false;
};

// The form of the document that the client likes best; no content where it likes none.
Part documentPart(const http::RequestHead& head, const Description& description) {
  const int json = http::qualityOf(head, "application/json");
  const int html = http::qualityOf(head, "text/html");
  Part best{"application/json", description.document, "", description.hash, true};
  int quality = json;
  for (const std::string_view type : {"application/openapi+json", "application/vnd.oai.openapi+json"}) {
    if (http::qualityOf(head, type) <= quality) continue;
    quality = http::qualityOf(head, type);
    best.type = type;
    best.tag_suffix = "-o";
  }
  if (html > quality) {
    best = {"text/html; charset=utf-8", embedded::mysql_describe_page, "-h",
            contentHash(embedded::mysql_describe_page), true};
  } else if (quality == 0) {
    best.content = {};
  }
  return best;
}

void replyPart(http::Exchange& exchange, const Part& part) {
  http::ResponseHead head(200);
  const std::string tag = entityTag(part.hash, false, part.tag_suffix);
  head.add("ETag", tag);
  head.add("Cache-Control", "no-cache");
  head.add("X-Content-Type-Options", "nosniff");
  if (part.by_accept) head.add("Vary", "Accept");
  if (part.content.data() == embedded::mysql_describe_page.data())
    head.add("Content-Security-Policy", kPolicy);
  http::Validators validators;
  validators.etag = tag;
  switch (http::evaluate(exchange.request(), validators)) {
    case http::Precondition::kProceed:
      head.add("Content-Type", part.type);
      return exchange.reply(head, part.content);
    case http::Precondition::kNotModified:
      head.status = 304;
      head.unsent_type = part.type;
      return exchange.begin(head, true);
    case http::Precondition::kPreconditionFailed:
      return replyProblem(exchange, {412, "precondition_failed", "If-Match names another state", {}, {}});
  }
}

}  // namespace

Description describe(const tables::Exposure& exposure, const RestRouteConfig& route) {
  Description made;
  made.document = tables::openApiDocument(exposure, {route.path, route.batch});
  made.hash = contentHash(made.document);
  return made;
}

void replyDescription(http::Exchange& exchange, const Description& description) noexcept {
  const http::Method method = exchange.method();
  if (method == http::Method::kOptions) {
    http::ResponseHead head(204);
    head.add("Allow", kAllow);
    return exchange.begin(head, true);
  }
  if (method != http::Method::kGet && method != http::Method::kHead)
    return replyNotAllowed(exchange, kAllow, "this path only tells what tables there are");
  const std::string_view query = exchange.query();
  if (query == "page.js") {
    return replyPart(exchange, {"text/javascript; charset=utf-8", embedded::mysql_describe_script, "",
                                contentHash(embedded::mysql_describe_script)});
  }
  if (query == "page.css") {
    return replyPart(exchange, {"text/css; charset=utf-8", embedded::mysql_describe_style, "",
                                contentHash(embedded::mysql_describe_style)});
  }
  if (!query.empty())
    return replyProblem(exchange, {400, "bad_query", "this path knows no parameters", {}, {}});
  const Part part = documentPart(exchange.request(), description);
  if (!part.content.empty()) return replyPart(exchange, part);
  replyProblem(
      exchange,
      {406, "not_acceptable", "there are application/json and text/html, which Accept excludes", {}, {}});
}

}  // namespace roost::modules::mysql
