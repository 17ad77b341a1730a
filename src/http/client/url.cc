#include "http/client/url.h"

#include <algorithm>

#include "http/ascii.h"
#include "http/host.h"

namespace roost::http::client {
namespace {

constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;

bool startsWithScheme(std::string_view text, std::string_view scheme) noexcept {
  return text.size() >= scheme.size() && equalsToken(text.substr(0, scheme.size()), scheme);
}

// The scheme of an absolute URL with its colon, "" where there is none.
std::string_view schemeOf(std::string_view text) noexcept {
  const size_t colon = text.find_first_of(":/?#");
  return colon == 0 || colon == std::string_view::npos || text[colon] != ':' ? std::string_view{}
                                                                             : text.substr(0, colon + 1);
}

Status cannotRead(std::string_view text, const char* why) {
  return Status::error("URL \"" + std::string(text.substr(0, 200)) + "\": " + why);
}

// Path and query in `rest`, which follows an authority.
std::string targetOf(std::string_view rest) {
  rest = rest.substr(0, rest.find('#'));
  if (!rest.empty() && rest.front() == '/') return std::string(rest);
  return "/" + std::string(rest);
}

Result<Url> withTarget(Url url, std::string_view text) {
  if (!isTarget(url.target)) return cannotRead(text, "a character that must be escaped");
  return url;
}

Result<Url> parseUnixUrl(std::string_view text) {
  std::string_view rest = text.substr(5);
  const size_t end = rest.find(":/");
  Url url;
  url.origin.unix_path = std::string(rest.substr(0, end));
  url.origin.port = 0;
  url.target = end == std::string_view::npos ? "/" : targetOf(rest.substr(end + 1));
  if (url.origin.unix_path.empty()) return cannotRead(text, "no path of a socket");
  return withTarget(std::move(url), text);
}

// "//host:port/path" of `scheme`.
Result<Url> parseNetworkPath(bool is_https, std::string_view text, std::string_view rest) {
  rest.remove_prefix(2);
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const Authority authority = parseAuthority(rest.substr(0, end));
  if (!authority.ok() || authority.host.empty()) return cannotRead(text, "not a host and port");
  Url url;
  url.is_https = is_https;
  url.origin.host.resize(authority.host.size());
  std::transform(authority.host.begin(), authority.host.end(), url.origin.host.begin(), lowerAscii);
  url.origin.port = authority.has_port ? authority.port : (is_https ? kHttpsPort : kHttpPort);
  url.target = targetOf(rest.substr(end));
  if (url.origin.port == 0) return cannotRead(text, "port 0");
  return withTarget(std::move(url), text);
}

// With a scheme, be it one that only a redirect may name.
Result<Url> parseAbsolute(std::string_view text) {
  if (startsWithScheme(text, "unix:")) return parseUnixUrl(text);
  const bool is_https = startsWithScheme(text, "https:");
  if (!is_https && !startsWithScheme(text, "http:")) return cannotRead(text, "not http: or unix:");
  const std::string_view rest = text.substr(is_https ? 6 : 5);
  if (rest.substr(0, 2) != "//") return cannotRead(text, "no // behind the scheme");
  return parseNetworkPath(is_https, text, rest);
}

// RFC 3986 section 5.2.4.
std::string withoutDotSegments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool last = end == path.size();
    if (segment == "/..") {
      out.resize(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
      if (last) out += '/';
    } else if (segment == "/.") {
      if (last) out += '/';
    } else {
      out += segment;
    }
    path.remove_prefix(end);
  }
  return out.empty() ? "/" : out;
}

}  // namespace

std::string Origin::key() const {
  return unix_path.empty() ? host + ":" + std::to_string(port) : "unix:" + unix_path;
}

std::string Origin::hostField() const {
  if (!unix_path.empty()) return "localhost";
  return port == kHttpPort ? host : host + ":" + std::to_string(port);
}

bool operator==(const Origin& a, const Origin& b) noexcept {
  return a.port == b.port && a.host == b.host && a.unix_path == b.unix_path;
}

bool isTarget(std::string_view text) noexcept {
  if (text.empty() || (text.front() != '/' && text != "*")) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

Result<Url> parseUrl(std::string_view text) {
  Result<Url> url = parseAbsolute(text);
  if (url.ok() && url.value().is_https) return cannotRead(text, "https is not supported");
  return url;
}

Result<Url> resolveReference(const Url& base, std::string_view reference) {
  if (!schemeOf(reference).empty()) return parseAbsolute(reference);
  if (reference.substr(0, 2) == "//") return parseNetworkPath(base.is_https, reference, reference);
  reference = reference.substr(0, reference.find('#'));
  Url url = base;
  if (reference.empty()) return url;
  const std::string_view query = reference.substr(std::min(reference.find('?'), reference.size()));
  const std::string_view path = reference.substr(0, reference.size() - query.size());
  const std::string base_path = base.target.substr(0, base.target.find('?'));
  if (path.empty()) {
    url.target = base_path + std::string(query);
  } else if (path.front() == '/') {
    url.target = withoutDotSegments(path) + std::string(query);
  } else {
    const std::string folder = base_path.substr(0, base_path.rfind('/') + 1);
    url.target = withoutDotSegments(folder + std::string(path)) + std::string(query);
  }
  return withTarget(std::move(url), reference);
}

}  // namespace roost::http::client
