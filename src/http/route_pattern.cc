#include "http/route_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "http/router.h"
#include "http/target.h"

namespace roost::http {
namespace {

constexpr size_t kMostNameBytes = 32;
constexpr std::string_view kDots = "...";

bool isName(std::string_view text) noexcept {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kMostNameBytes && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), fits);
}

bool hasEscape(std::string_view path) noexcept {
  for (size_t i = path.find('%'); i != std::string_view::npos; i = path.find('%', i + 1)) {
    if (i + 2 < path.size() && hexValue(path[i + 1]) >= 0 && hexValue(path[i + 2]) >= 0) return true;
  }
  return false;
}

// Of a path that hasEscape().
Status escapeError(std::string_view path) {
  std::string error = fmt::format("path \"{}\": a route's path is written decoded, without escapes", path);
  std::string decoded(path.size() + 1, '\0');
  const DecodedPath result = decodePath(path, decoded.data(), decoded.size());
  decoded.resize(result.ok() ? result.size : 0);
  if (result.ok() && !hasEscape(decoded)) error += fmt::format(": write \"{}\"", decoded);
  return Status::error(std::move(error));
}

// Whether requests can have the path `plain`, which is `path` without its braces.
Status checkCanonical(std::string_view path, const std::string& plain) {
  std::string escaped;
  appendEncodedPath(escaped, plain);
  std::string decoded(escaped.size() + 1, '\0');
  const DecodedPath result = decodePath(escaped, decoded.data(), decoded.size());
  decoded.resize(result.ok() ? result.size : 0);
  if (result.ok() && decoded == plain) return {};
  std::string hint;
  if (!result.ok()) hint = fmt::format(" ({})", pathErrorText(result.error));
  if (result.ok() && plain == path) hint = fmt::format(": write \"{}\"", decoded);
  return Status::error(fmt::format("path \"{}\": no request can have this path{}", path, hint));
}

class Parser {
 public:
  explicit Parser(std::string_view path) noexcept : path_(path) {}

  Result<RoutePattern> run() {
    if (path_.empty() || path_[0] != '/') {
      return Status::error(fmt::format("path \"{}\" does not begin with \"/\"", path_));
    }
    if (path_.find_first_of("?#") != std::string_view::npos) {
      return error("a route's path has neither query nor fragment");
    }
    if (hasEscape(path_)) return escapeError(path_);
    for (size_t at = 1; at <= path_.size();) {
      const size_t end = std::min(path_.find('/', at), path_.size());
      const Status status = addSegment(path_.substr(at, end - at), end == path_.size());
      if (!status.ok()) return status;
      at = end + 1;
    }
    const Status status = checkWhole();
    if (!status.ok()) return status;
    return std::move(pattern_);
  }

 private:
  Status error(std::string_view what) const {
    return Status::error(fmt::format("path \"{}\": {}", path_, what));
  }

  // What other servers write, and what would be taken literally here.
  Status checkForeign(std::string_view text, bool last) const {
    constexpr std::string_view kOther = "for the character itself use \"regex\"";
    if (text.size() > 1 && text[0] == ':' && isName(text.substr(1))) {
      return error(fmt::format("\"{}\" stands for itself here: a part that varies is written \"{{{}}}\" ({})",
                               text, text.substr(1), kOther));
    }
    if (text.find('*') == std::string_view::npos) return {};
    if (last && text.find_first_not_of('*') == std::string_view::npos) {
      const std::string_view above = path_.substr(0, path_.size() - text.size());
      return error(fmt::format("\"*\" is no wildcard here: \"{}\" stands for everything below it ({})", above,
                               kOther));
    }
    return error(
        fmt::format("\"*\" is no wildcard here: \"{{name}}\" stands for a part of the path ({})", kOther));
  }

  Status addSegment(std::string_view text, bool last) {
    if (Status status = checkForeign(text, last); !status.ok()) return status;
    plain_ += '/';
    if (text.empty() && last) {
      pattern_.is_prefix = true;
      return {};
    }
    RoutePattern::Segment segment;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool doubled = i + 1 < text.size() && text[i + 1] == c;
      if (c == '}' && !doubled) return error("a \"}\" without its \"{\"; write \"}}\" for the character");
      if (c != '{' || doubled) {
        i += (c == '{' || c == '}') ? 1 : 0;
        (segment.name.empty() ? segment.before : segment.after) += c;
        plain_ += c;
        continue;
      }
      const size_t end = text.find('}', i);
      if (end == std::string_view::npos) {
        return error("a \"{\" without its \"}\" in the same segment; write \"{{\" for the character");
      }
      if (!segment.name.empty()) return error("one segment cannot hold two names; use \"regex\" for this");
      segment.name = text.substr(i + 1, end - i - 1);
      if (segment.name.empty()) return error("\"{}\" has no name between its braces");
      plain_ += 'x';
      i = end;
    }
    return addNamed(std::move(segment), last);
  }

  Status addNamed(RoutePattern::Segment segment, bool last) {
    std::string& name = segment.name;
    const bool rest = name.size() > kDots.size() && std::string_view(name).substr(name.size() - 3) == kDots;
    if (rest) name.resize(name.size() - kDots.size());
    if (!name.empty() && !isName(name)) {
      return error(
          fmt::format("\"{}\" is not a name: letters, digits and \"_\", at most {}; use \"regex\" for "
                      "an expression",
                      name, kMostNameBytes));
    }
    if (!rest) {
      pattern_.segments.push_back(std::move(segment));
      return {};
    }
    if (!last || !segment.before.empty() || !segment.after.empty()) {
      return error(fmt::format("\"{{{}...}}\" can only be the whole end of a path", name));
    }
    pattern_.is_prefix = true;
    pattern_.rest_name = std::move(name);
    return {};
  }

  Status checkWhole() const {
    Status status = checkCanonical(path_, plain_);
    if (!status.ok()) return status;
    std::vector<std::string> names = pattern_.names();
    if (names.size() > RouteParams::kMost) {
      return error(fmt::format("{} names; a path has at most {}", names.size(), RouteParams::kMost));
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return error(fmt::format("\"{}\" is named twice", *twice));
    return {};
  }

  const std::string_view path_;
  std::string plain_;  // the path with "x" for each name
  RoutePattern pattern_;
};

}  // namespace

Result<RoutePattern> RoutePattern::parse(std::string_view path) {
  return Parser(path).run();
}

std::vector<std::string> RoutePattern::names() const {
  std::vector<std::string> names;
  for (const Segment& segment : segments) {
    if (!segment.name.empty()) names.push_back(segment.name);
  }
  if (!rest_name.empty()) names.push_back(rest_name);
  return names;
}

std::string RoutePattern::literalPath() const {
  std::string path;
  for (const Segment& segment : segments) path += '/' + segment.before;
  if (is_prefix) path += '/';
  return path;
}

std::string RoutePattern::shape() const {
  std::string shape;
  for (const Segment& segment : segments) {
    shape += '/' + segment.before;
    if (!segment.name.empty()) shape += '\0' + segment.after;  // no path holds a NUL
  }
  if (is_prefix) shape += '/';
  return shape;
}

}  // namespace roost::http
