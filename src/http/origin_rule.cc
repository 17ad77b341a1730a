#include "http/origin_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/ascii.h"
#include "http/exchange.h"
#include "http/host.h"
#include "http/message.h"
#include "log/log.h"

namespace roost::http {
namespace {

constexpr std::string_view kSite = "Sec-Fetch-Site";
constexpr size_t kMostShown = 255;  // of an origin, to whoever reads of it

struct Origin {
  bool https = false;
  Authority authority;
  bool ok() const noexcept { return authority.ok() && authority.kind != HostKind::kEmpty; }
};

Origin parseOrigin(std::string_view text) noexcept {
  constexpr std::string_view kHttp = "http://";
  constexpr std::string_view kHttps = "https://";
  Origin origin;
  origin.https = text.substr(0, kHttps.size()) == kHttps;
  if (!origin.https && text.substr(0, kHttp.size()) != kHttp) return origin;
  origin.authority = parseAuthority(text.substr(origin.https ? kHttps.size() : kHttp.size()));
  return origin;
}

// Whether the page came from where its request goes to. The page's scheme says which port is meant where none
// is written: ours says nothing behind a proxy that ends TLS.
bool isSame(const Origin& page, const Authority& host) noexcept {
  const int usual = page.https ? 443 : 80;
  const auto portOf = [&](const Authority& of) { return of.has_port ? of.port : usual; };
  return page.ok() && host.ok() && equalsToken(page.authority.host, host.host) &&
         portOf(page.authority) == portOf(host);
}

// Whether a browser has added something that tells who the user is. A token that a script has set is none: it
// had to be known to the page, and the preflight had to allow it.
bool hasAmbientCredentials(const RequestHead& head) noexcept {
  if (head.has(FieldId::kCookie)) return true;
  const std::string_view text = head.get(FieldId::kAuthorization);
  const std::string_view scheme = text.substr(0, text.find(' '));
  return equalsToken(scheme, "basic") || equalsToken(scheme, "digest") || equalsToken(scheme, "negotiate") ||
         equalsToken(scheme, "ntlm");
}

std::string_view shown(std::string_view origin) noexcept {
  const bool is_plain = origin.size() <= kMostShown &&
                        std::all_of(origin.begin(), origin.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return is_plain && !origin.empty() ? origin : std::string_view("(malformed)");
}

std::string sentence(OriginFault fault, std::string_view origin, std::string_view does,
                     std::string_view key) {
  switch (fault) {
    case OriginFault::kRepeated:
      return "the request has more than one Origin field";
    case OriginFault::kUnnamed:
      return fmt::format("a page of another origin may not {}, and the request has no Origin field", does);
    case OriginFault::kCredentials:
      return fmt::format(
          "a page of {} may not {} with a password or a cookie: \"*\" does not count for those; to let it "
          "in, "
          "add its origin to {}",
          origin, does, key);
    case OriginFault::kNone:
    case OriginFault::kForeign:
    case OriginFault::kOpaque:
      break;
  }
  return fmt::format("a page of the origin {} may not {}; to let it in, add its origin to {}", origin, does,
                     key);
}

std::string refused(const Exchange& exchange, const OriginPolicy& policy, std::string_view does,
                    std::string_view key) {
  const RequestHead& head = exchange.request();
  const OriginFault fault = policy.judge(head, exchange.route().cors.get());
  if (fault == OriginFault::kNone) return {};
  if (const HttpCounters* counters = exchange.context().counters()) {
    counters->foreign_origins[static_cast<size_t>(fault)]->add();
  }
  const std::string_view origin = shown(head.get(FieldId::kOrigin));
  std::string why = sentence(fault, origin, does, key);
  LOG_EVERY_SECOND(WARN, "refused another origin's page client={} path={} origin={} reason={}: {}",
                   exchange.client().toString(), exchange.path(), origin, faultName(fault), why);
  if (Trace* trace = exchange.trace()) trace->note(why);
  return why;
}

}  // namespace

std::string_view faultName(OriginFault fault) noexcept {
  constexpr std::string_view kNames[kOriginFaults] = {"",         "foreign", "opaque",
                                                      "repeated", "unnamed", "credentials"};
  return kNames[static_cast<size_t>(fault)];
}

Result<OriginPolicy> OriginPolicy::compile(const std::vector<std::string>& texts) {
  OriginPolicy policy;
  policy.same_ = std::find(texts.begin(), texts.end(), "same") != texts.end();
  std::vector<std::string> others;
  for (const std::string& text : texts) {
    if (text == "same") continue;
    others.push_back(text);
    std::transform(text.begin(), text.end(), others.back().begin(), lowerAscii);
  }
  Result<OriginSet> listed = OriginSet::compile(others);
  if (!listed.ok()) return Status::error(listed.status().message() + "; \"same\" stands for the route's own");
  policy.listed_ = std::move(listed).value();
  return policy;
}

OriginFault OriginPolicy::judge(const RequestHead& head, const OriginSet* cors) const noexcept {
  if (listed_.any()) return OriginFault::kNone;
  const std::string_view site = head.get(kSite);
  if (site == "none" || (same_ && site == "same-origin")) return OriginFault::kNone;
  if (!head.has(FieldId::kOrigin)) return site.empty() ? OriginFault::kNone : OriginFault::kUnnamed;
  if ((head.repeated & fieldBit(FieldId::kOrigin)) != 0) return OriginFault::kRepeated;
  const std::string_view origin = head.get(FieldId::kOrigin);
  if (listed_.names(origin) || (cors != nullptr && cors->names(origin))) return OriginFault::kNone;
  if (same_ && site.empty() && isSame(parseOrigin(origin), parseHost(head.get(FieldId::kHost)))) {
    return OriginFault::kNone;
  }
  if (cors != nullptr && cors->any()) {
    return hasAmbientCredentials(head) ? OriginFault::kCredentials : OriginFault::kNone;
  }
  return origin == "null" ? OriginFault::kOpaque : OriginFault::kForeign;
}

std::string refusedOrigin(const Exchange& exchange) {
  static const OriginPolicy own;
  return refused(exchange, own, "write here", "\"origins\" in the \"cors\" of this route");
}

std::string refusedOrigin(const Exchange& exchange, const OriginPolicy& origins) {
  return refused(exchange, origins, "open a WebSocket here",
                 "\"origins\" of this route, or to those in its \"cors\"");
}

}  // namespace roost::http
