// What a route table must find, said the slow way: every route is tried, and those that fit are compared.
#pragma once

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "http/route_pattern.h"

namespace roost::http::test {

struct NaiveRoute {
  std::string path;
  bool is_regex = false;
};

using Values = std::vector<std::string>;  // of the names, in their order

struct NaiveFound {
  size_t index = 0;
  Values values;
};

inline std::vector<std::string> segmentsOf(std::string_view path) {
  std::vector<std::string> segments;
  for (size_t at = 1; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    segments.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  return segments;
}

inline std::optional<Values> naiveFit(const RoutePattern& pattern, std::string_view path) {
  const std::vector<std::string> given = segmentsOf(path);
  const size_t count = pattern.segments.size();
  if (pattern.is_prefix ? given.size() <= count : given.size() != count) return std::nullopt;
  Values values;
  size_t behind = 1;
  for (size_t i = 0; i < count; ++i) {
    const auto& [before, name, after] = pattern.segments[i];
    std::string_view text = given[i];
    behind += text.size() + 1;
    if (name.empty()) {
      if (text != before) return std::nullopt;
      continue;
    }
    if (text.size() <= before.size() + after.size()) return std::nullopt;
    if (text.substr(0, before.size()) != before) return std::nullopt;
    if (text.substr(text.size() - after.size()) != after) return std::nullopt;
    values.emplace_back(text.substr(before.size(), text.size() - before.size() - after.size()));
  }
  if (!pattern.rest_name.empty()) values.emplace_back(path.substr(behind));
  return values;
}

// Whether `a` is the more specific of two that fit the same path; false where they are alike.
inline bool isMoreSpecific(const RoutePattern& a, const RoutePattern& b) {
  for (size_t i = 0; i < a.segments.size() && i < b.segments.size(); ++i) {
    const auto rank = [](const RoutePattern::Segment& s) {
      const bool literal = s.name.empty();
      return std::make_tuple(literal ? 1 : 0, literal ? 0 : s.before.size() + s.after.size(),
                             literal ? 0 : s.before.size());
    };
    if (rank(a.segments[i]) != rank(b.segments[i])) return rank(a.segments[i]) > rank(b.segments[i]);
  }
  return a.segments.size() > b.segments.size();
}

// Nothing where no route fits. Of two alike, the first. REQUIRES: every path and expression is one.
inline std::optional<NaiveFound> naiveFind(const std::vector<NaiveRoute>& routes, std::string_view path) {
  std::optional<NaiveFound> found;
  if (path.empty() || path[0] != '/') return found;
  for (size_t i = 0; i < routes.size(); ++i) {
    if (routes[i].is_regex) continue;
    const RoutePattern pattern = RoutePattern::parse(routes[i].path).value();
    if (pattern.isLiteral() && !pattern.is_prefix && pattern.literalPath() == path) return NaiveFound{i, {}};
  }
  for (size_t i = 0; i < routes.size(); ++i) {
    if (!routes[i].is_regex) continue;
    RE2::Options options(RE2::Latin1);
    options.set_log_errors(false);
    const RE2 regex(routes[i].path, options);
    std::vector<re2::StringPiece> groups(static_cast<size_t>(regex.NumberOfCapturingGroups()) + 1);
    const re2::StringPiece text(path.data(), path.size());
    if (!regex.Match(text, 0, path.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size())))
      continue;
    NaiveFound fits{i, {}};
    for (size_t g = 1; g < groups.size(); ++g) fits.values.push_back(groups[g].as_string());
    return fits;
  }
  for (size_t i = 0; i < routes.size(); ++i) {
    if (routes[i].is_regex) continue;
    const RoutePattern pattern = RoutePattern::parse(routes[i].path).value();
    std::optional<Values> values = naiveFit(pattern, path);
    if (!values.has_value()) continue;
    if (found.has_value() &&
        !isMoreSpecific(pattern, RoutePattern::parse(routes[found->index].path).value())) {
      continue;
    }
    found = NaiveFound{i, std::move(*values)};
  }
  return found;
}

}  // namespace roost::http::test
