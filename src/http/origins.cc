#include "http/origins.h"

#include <algorithm>
#include <utility>

namespace roost::http {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool isSmallAlnum(char c) noexcept {
  return isDigit(c) || (c >= 'a' && c <= 'z');
}
bool isHostChar(char c) noexcept {
  return isSmallAlnum(c) || c == '.' || c == '-' || c == '_';
}

bool isPort(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 5 && text[0] != '0' &&
         std::all_of(text.begin(), text.end(), isDigit);
}

// An address in brackets, or labels.
bool isHost(std::string_view host) noexcept {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    const std::string_view inside = host.substr(1, host.size() - 2);
    return std::all_of(inside.begin(), inside.end(),
                       [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || c == ':' || c == '.'; });
  }
  return !host.empty() && host.front() != '.' && host.back() != '.' && host.find("..") == kNone &&
         std::all_of(host.begin(), host.end(), isHostChar);
}

// Where the port's colon stands, or the end.
size_t portAt(std::string_view authority) noexcept {
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.find(':', bracket == kNone ? 0 : bracket);
  return std::min(colon, authority.size());
}

Status wrong(const std::string& text, std::string_view why) {
  return Status::error("\"" + text + "\" is not an origin: " + std::string(why));
}

}  // namespace

Result<OriginSet::Pattern> OriginSet::parse(const std::string& text) {
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string::npos || scheme_end == 0) {
    return wrong(text, "write \"https://example.org\", \"https://*.example.org\", \"null\" or \"*\"");
  }
  if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return wrong(text, "browsers send it in small letters");
  }
  Pattern pattern;
  pattern.scheme = text.substr(0, scheme_end + 3);
  std::string_view authority = std::string_view(text).substr(scheme_end + 3);
  if (authority.find('/') != kNone) return wrong(text, "it has no path and no \"/\" at its end");
  const size_t colon = portAt(authority);
  const std::string_view port = authority.substr(std::min(colon + 1, authority.size()));
  std::string_view host = authority.substr(0, colon);
  if (colon < authority.size()) {
    pattern.any_port = port == "*";
    if (!pattern.any_port && !isPort(port)) return wrong(text, "the port is a number or \"*\"");
    if (!pattern.any_port) pattern.port = ":" + std::string(port);
  }
  if ((pattern.scheme == "https://" && port == "443") || (pattern.scheme == "http://" && port == "80")) {
    return wrong(text, "browsers leave out the scheme's own port");
  }
  pattern.subdomains = host.substr(0, 2) == "*.";
  if (!isHost(pattern.subdomains ? host.substr(2) : host)) {
    return wrong(text, "\"*\" may stand for whole names at the front of the host alone");
  }
  pattern.host = std::string(pattern.subdomains ? host.substr(1) : host);
  return pattern;
}

Result<OriginSet> OriginSet::compile(const std::vector<std::string>& texts) {
  OriginSet made;
  for (const std::string& text : texts) {
    if (text == "*") {
      made.any_ = true;
    } else if (text == "null") {
      made.null_ = true;
    } else {
      Result<Pattern> pattern = parse(text);
      if (!pattern.ok()) return pattern.status();
      made.patterns_.push_back(std::move(*pattern));
    }
  }
  return made;
}

bool OriginSet::fits(const Pattern& pattern, std::string_view origin) noexcept {
  if (origin.substr(0, pattern.scheme.size()) != pattern.scheme) return false;
  const std::string_view authority = origin.substr(pattern.scheme.size());
  const size_t colon = portAt(authority);
  const std::string_view host = authority.substr(0, colon);
  const std::string_view port = authority.substr(colon);
  const bool port_fits =
      port == pattern.port || (pattern.any_port && (port.empty() || isPort(port.substr(1))));
  if (!port_fits) return false;
  if (!pattern.subdomains) return host == pattern.host;
  return host.size() > pattern.host.size() && isHost(host) &&
         host.substr(host.size() - pattern.host.size()) == pattern.host;
}

bool OriginSet::names(std::string_view origin) const noexcept {
  if (origin.empty()) return false;
  if (null_ && origin == "null") return true;
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [origin](const Pattern& pattern) { return fits(pattern, origin); });
}

}  // namespace roost::http
