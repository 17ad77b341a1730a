#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "http/host.h"
#include "http/route_table.h"
#include "http/router.h"
#include "server/explain.h"

namespace roost::server {
namespace {

using http::Trace;

constexpr size_t kMostOthers = 8;  // routes that would have fitted too
constexpr size_t kMostLookedAt = 100'000;
constexpr size_t kLineBytes = 110;  // of content
constexpr int kMostLines = 6;

void line(std::string& out, std::string_view label, std::string_view text) {
  out += fmt::format("{:<10}{}\n", label, text);
}

void note(std::string& out, std::string_view text) {
  out += fmt::format("{:<12}- {}\n", "", text);
}

std::string siteText(const http::Site& site, const std::string& host) {
  const std::string names = fmt::format("{}", fmt::join(site.hosts, ", "));
  char lower[http::kMaxHostBytes];
  std::string name(host.substr(0, http::kMaxHostBytes));
  name.assign(lower, http::lowerHost(name, lower));
  if (!name.empty() && name.back() == '.') name.pop_back();
  const auto& hosts = site.hosts;
  if (std::find(hosts.begin(), hosts.end(), name) != hosts.end())
    return fmt::format("{} (the name itself)", names);
  for (const std::string& wildcard : hosts) {
    const bool fits = wildcard.size() > 2 && wildcard.compare(0, 2, "*.") == 0 &&
                      name.size() > wildcard.size() - 1 &&
                      name.compare(name.size() - wildcard.size() + 1, std::string::npos, wildcard, 1) == 0;
    if (fits) return fmt::format("{} (\"{}\" fits {})", names, wildcard, name);
  }
  return fmt::format("{} (no site is named \"{}\", this one answers for all others)", names, name);
}

// The other routes of the site that the path fits, each asked by itself.
std::vector<std::string> otherRoutes(const Trace::Step& step) {
  std::vector<std::string> others;
  const auto& routes = step.route->site->routes;
  for (size_t i = 0; i < routes.size() && i < kMostLookedAt && others.size() < kMostOthers; ++i) {
    if (routes[i].get() == step.route) continue;
    std::vector<std::unique_ptr<http::Route>> alone;
    alone.push_back(std::make_unique<http::Route>());
    alone[0]->path = routes[i]->path;
    alone[0]->is_regex = routes[i]->is_regex;
    const Result<http::RouteTable> table = http::RouteTable::build(alone);
    http::RouteParams params;
    if (table.ok() && table.value().find(step.path, params) != nullptr) others.push_back(routes[i]->path);
  }
  return others;
}

void routeLines(std::string& out, const Trace::Step& step, bool first) {
  const http::Route& route = *step.route;
  if (first) {
    line(out, "site", siteText(*route.site, step.host));
  }
  const bool fallback = &route == &route.site->fallback;
  line(out, "route",
       fallback ? fmt::format("none fits {}", step.path) : fmt::format("{} (for {})", route.path, step.path));
  const std::vector<std::string> others = otherRoutes(step);
  if (!others.empty()) note(out, fmt::format("would fit too: {}", fmt::join(others, ", ")));
  if (step.path.back() != '/') {
    http::RouteParams params;
    const std::string folder = step.path + "/";
    const http::Route& with_slash = http::Router::findIn(*route.site, folder, params);
    if (with_slash.path == folder)
      note(out, fmt::format("with a slash at its end it would be route {}", folder));
  }
  if (!route.error_pages.empty()) {
    std::vector<std::string> pages;
    // Neighbours with the same page in one: a class has a hundred.
    for (auto page = route.error_pages.begin(); page != route.error_pages.end();) {
      const int lowest = page->first;
      int highest = lowest;
      const std::string& path = page->second.path;
      for (++page; page != route.error_pages.end() && page->first == highest + 1 && page->second.path == path;
           ++page)
        ++highest;
      pages.push_back(lowest == highest ? fmt::format("{} {}", lowest, path)
                                        : fmt::format("{}-{} {}", lowest, highest, path));
    }
    note(out, fmt::format("error pages: {}", fmt::join(pages, ", ")));
  }
}

std::string stepText(const Trace::Step& step) {
  if (step.outcome.empty()) return step.name;
  return fmt::format("{}: {}", step.name, step.outcome);
}

void stepLines(std::string& out, const Trace::Step& step, Trace::Kind before, bool first_route,
               bool refused) {
  const bool fresh = step.kind != before;
  switch (step.kind) {
    case Trace::Kind::kProtocol:
      if (refused) line(out, "protocol", "the request is refused before a route is looked for");
      break;
    case Trace::Kind::kRoute:
      routeLines(out, step, first_route);
      break;
    case Trace::Kind::kFilter:
      line(out, fresh ? "filters" : "", stepText(step));
      break;
    case Trace::Kind::kHandler:
      line(out, "handler", step.name.empty() ? "none: 404" : stepText(step));
      break;
    case Trace::Kind::kHead:
      line(out, fresh ? "fields" : "", stepText(step));
      break;
  }
  for (const std::string& text : step.notes) note(out, text);
}

bool isText(std::string_view bytes) noexcept {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
  });
}

void headLines(std::string& out, std::string_view label, std::string_view head) {
  bool first = true;
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view text = head.substr(0, end);
    // The version of HTTP is the protocol's, not the answer's.
    line(out, first ? label : "", first ? text.substr(std::min(text.find(' ') + 1, text.size())) : text);
    head.remove_prefix(std::min(end + 2, head.size()));
    first = false;
  }
}

void answerLines(std::string& out, const Answer& answer) {
  for (const std::string& interim : answer.interim) headLines(out, "interim", interim);
  if (answer.head.empty()) {
    if (answer.given_up) return line(out, "answer", "not here: the handler says what it depends on");
    line(out, "answer", fmt::format("none within {} s: the handler waits for something", kExplainMs / 1000));
    return;
  }
  headLines(out, "answer", answer.head);
  const bool stopped = !answer.complete && answer.content_bytes > Answer::kMostBytes;
  line(out, "content",
       fmt::format("{} bytes{}", answer.content_bytes,
                   answer.complete ? ""
                   : stopped       ? " read, and more to come"
                             : fmt::format(" came within {} s, and it has not ended", kExplainMs / 1000)));
  if (answer.begin.empty()) return;
  if (!isText(answer.begin)) {
    note(out, "not text");
    return;
  }
  std::string_view rest = answer.begin;
  for (int shown = 0; shown < kMostLines && !rest.empty(); ++shown) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    out +=
        fmt::format("{:<12}| {}{}\n", "", text.substr(0, kLineBytes), text.size() > kLineBytes ? "..." : "");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

std::string report(const ExplainRequest& request, const Explanation& explanation) {
  char client[net::PeerAddr::kMaxText];
  const std::string from(client, request.client.formatIp(client));
  std::string out;
  line(out, "request",
       fmt::format("{} http://{}{} from {}", request.method, request.host, request.target, from));
  Trace::Kind before = Trace::Kind::kProtocol;
  bool first_route = true;
  const auto& steps = explanation.trace.steps();
  const bool refused = std::none_of(steps.begin(), steps.end(),
                                    [](const auto& step) { return step.kind == Trace::Kind::kRoute; });
  for (const Trace::Step& step : steps) {
    stepLines(out, step, before, first_route, refused);
    if (step.kind == Trace::Kind::kRoute) first_route = false;
    before = step.kind;
  }
  answerLines(out, explanation.answer);
  return out;
}

}  // namespace roost::server
