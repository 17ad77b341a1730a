#include "http/ws/origins.h"

#include <algorithm>

#include "http/ascii.h"
#include "http/host.h"
#include "http/message.h"

namespace roost::http::ws {
namespace {

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

// Whether the page came from where its socket goes to. Which of the ports that need not be written is meant,
// the page's scheme tells: behind a proxy that ends TLS ours says nothing.
bool isSame(const Origin& page, const Authority& host) noexcept {
  const int usual = page.https ? 443 : 80;
  const auto portOf = [&](const Authority& of) { return of.has_port ? of.port : usual; };
  return page.ok() && host.ok() && equalsToken(page.authority.host, host.host) &&
         portOf(page.authority) == portOf(host);
}

}  // namespace

Result<OriginPolicy> OriginPolicy::compile(const std::vector<std::string>& texts) {
  OriginPolicy policy;
  policy.same_ = false;
  for (const std::string& text : texts) {
    if (text == "same") {
      policy.same_ = true;
    } else if (text == "*") {
      policy.any_ = true;
    } else if (text == "null" || (parseOrigin(text).ok() && text.back() != ':')) {
      policy.listed_.push_back(text);
    } else {
      return Status::error("\"" + text +
                           "\" is no origin: write \"https://example.org\", \"same\", \"null\" or \"*\"");
    }
  }
  return policy;
}

bool OriginPolicy::admits(const RequestHead& head) const noexcept {
  if (any_ || !head.has(FieldId::kOrigin)) return true;
  if ((head.repeated & fieldBit(FieldId::kOrigin)) != 0) return false;
  const std::string_view origin = head.get(FieldId::kOrigin);
  const bool listed = std::any_of(listed_.begin(), listed_.end(),
                                  [&](const std::string& known) { return equalsToken(known, origin); });
  return listed || (same_ && isSame(parseOrigin(origin), parseHost(head.get(FieldId::kHost))));
}

}  // namespace roost::http::ws
