#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "http/ascii.h"
#include "http/field_syntax.h"
#include "http/token_list.h"
#include "server/explain.h"

namespace roost::server {
namespace {

constexpr uint16_t kClientPort = 50000;

bool isVisible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c != 0x7f; });
}

bool startsWith(std::string_view text, std::string_view start) noexcept {
  return text.substr(0, start.size()) == start;
}

// Splits "http://host/path" into the request's host and target.
Status takeUrl(std::string_view url, ExplainRequest& request) {
  constexpr std::string_view kHttp = "http://";
  if (startsWith(url, "https://"))
    return Status::error("https: the server speaks http; behind a proxy that speaks https, ask for http://");
  if (!isVisible(url)) return Status::error(fmt::format("\"{}\": a URL has no spaces", url));
  if (startsWith(url, "/")) {
    request.host = "localhost";
    request.target = std::string(url);
    return {};
  }
  if (!startsWith(url, kHttp))
    return Status::error(fmt::format("\"{}\" is no URL: write \"http://host/path\" or \"/path\"", url));
  url.remove_prefix(kHttp.size());
  const size_t end = std::min(url.find_first_of("/?"), url.size());
  request.host = std::string(url.substr(0, end));
  request.target = std::string(url.substr(end));
  if (request.host.empty()) return Status::error("the URL names no host");
  if (request.target.empty() || request.target[0] == '?') request.target.insert(0, "/");
  request.target.resize(std::min(request.target.find('#'), request.target.size()));
  return {};
}

Status takeField(std::string_view text, ExplainRequest& request) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (colon == std::string_view::npos || !http::isToken(name))
    return Status::error(fmt::format("-H \"{}\": write \"Name: value\"", text));
  const std::string_view value = http::trimOws(text.substr(colon + 1));
  if (!http::isFieldValue(value))
    return Status::error(fmt::format("-H {}: a value holds no control characters", name));
  if (http::equalsToken(name, "host")) {
    request.host = std::string(value);
  } else if (http::equalsToken(name, "content-length") || http::equalsToken(name, "transfer-encoding")) {
    return Status::error(fmt::format("-H {}: a request that is explained has no body", name));
  } else {
    request.fields += fmt::format("{}: {}\r\n", name, value);
  }
  return {};
}

}  // namespace

std::string ExplainRequest::wire() const {
  return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", method, target, host, fields);
}

Result<ExplainRequest> parseExplainRequest(std::string_view text, const std::vector<std::string>& fields,
                                           std::string_view client) {
  ExplainRequest request;
  text = http::trimOws(text);
  const size_t space = text.find(' ');
  request.method = space == std::string_view::npos ? "GET" : std::string(text.substr(0, space));
  if (!http::isToken(request.method))
    return Status::error(fmt::format("\"{}\" is no method: write \"GET http://host/path\"", request.method));
  const std::string_view url = space == std::string_view::npos ? text : http::trimOws(text.substr(space));
  Status status = takeUrl(url, request);
  for (const std::string& field : fields) {
    if (status.ok()) status = takeField(field, request);
  }
  if (!status.ok()) return status;
  const auto address = net::SocketAddress::parse(client, kClientPort);
  if (!address.ok() || address->family() == AF_UNIX)
    return Status::error(fmt::format("--from \"{}\": write an IPv4 or IPv6 address", client));
  request.client = net::PeerAddr::from(address->get(), address->size());
  return request;
}

}  // namespace roost::server
