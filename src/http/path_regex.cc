#include "http/path_regex.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <map>
#include <utility>

namespace roost::http {
namespace {

// With so few, trying one after the other is as fast as RE2::Set.
constexpr size_t kFew = 3;
constexpr int64_t kSetMemoryBytes = 32 << 20;

RE2::Options optionsOf(int64_t max_mem) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(max_mem);
  return options;
}

bool isPlain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '-' ||
         c == '_' || c == '~' || c == '%' || c == '@' || c == ',' || c == ':' || c == '=' || c == '&';
}

// Behind `i`, a '[' that opens a class.
size_t skipClass(std::string_view text, size_t i) noexcept {
  ++i;
  if (i < text.size() && text[i] == '^') ++i;
  if (i < text.size() && text[i] == ']') ++i;
  for (; i < text.size() && text[i] != ']'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i, 2) == "[:") {
      const size_t end = text.find(":]", i);
      if (end != std::string_view::npos) i = end + 1;
    }
  }
  return i;
}

// Whether the expression may be "one or another" as a whole, so that its beginning is not everybody's.
bool hasOuterChoice(std::string_view text) noexcept {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      if (i < text.size() && text[i] == 'Q') return true;  // quoted text: not worth reading
    } else if (text[i] == '[') {
      i = skipClass(text, i);
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && depth > 0) {
      --depth;
    } else if (text[i] == '|' && depth == 0) {
      return true;
    }
  }
  return false;
}

// The literal text behind a leading '^'.
std::string prefixOf(std::string_view text) {
  if (text.empty() || text[0] != '^' || hasOuterChoice(text)) return {};
  std::string prefix;
  size_t i = 1;
  while (i < text.size()) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '.';
    if (!escaped && !isPlain(text[i])) break;
    prefix += escaped ? '.' : text[i];
    i += escaped ? 2 : 1;
  }
  const bool repeated = i < text.size() && std::string_view("*+?{").find(text[i]) != std::string_view::npos;
  if (repeated && !prefix.empty()) prefix.pop_back();
  return prefix;
}

}  // namespace

std::string_view Captures::get(std::string_view name) const noexcept {
  for (size_t i = 0; names != nullptr && i < names->size() && i < kMost; ++i) {
    if ((*names)[i] == name) return values[i];
  }
  return {};
}

bool Captures::has(std::string_view name) const noexcept {
  return names != nullptr && std::find(names->begin(), names->end(), name) != names->end();
}

PathRegex::PathRegex(std::unique_ptr<re2::RE2> regex) noexcept : regex_(std::move(regex)) {}
PathRegex::PathRegex(PathRegex&&) noexcept = default;
PathRegex& PathRegex::operator=(PathRegex&&) noexcept = default;
PathRegex::~PathRegex() = default;

Result<PathRegex> PathRegex::compile(const std::string& text) {
  PathRegex made(std::make_unique<RE2>(text, optionsOf(kMaxMemoryBytes)));
  const RE2& regex = *made.regex_;
  if (!regex.ok()) {
    return Status::error(fmt::format("\"{}\" is not a regular expression: {}", text, regex.error()));
  }
  const auto groups = static_cast<size_t>(regex.NumberOfCapturingGroups());
  if (groups > Captures::kMost) {
    return Status::error(
        fmt::format("\"{}\" has {} groups; at most {} are kept, write (?:...) for the others", text, groups,
                    Captures::kMost));
  }
  for (size_t i = 1; i <= groups; ++i) made.names_.push_back(std::to_string(i));
  for (const auto& [number, name] : regex.CapturingGroupNames()) {
    made.names_[static_cast<size_t>(number) - 1] = name;
  }
  made.prefix_ = prefixOf(text);
  return made;
}

const std::string& PathRegex::text() const noexcept {
  return regex_->pattern();
}

bool PathRegex::match(std::string_view path, Captures& captures) const noexcept {
  if (path.compare(0, prefix_.size(), prefix_) != 0) return false;
  std::array<re2::StringPiece, Captures::kMost + 1> found;
  const auto count = static_cast<int>(names_.size());
  const re2::StringPiece text(path.data(), path.size());
  const bool fits =
      regex_->Match(text, 0, path.size(), RE2::UNANCHORED, found.data(), count > 0 ? count + 1 : 0);
  if (!fits) return false;
  captures.names = &names_;
  for (size_t i = 0; i < names_.size(); ++i) captures.values[i] = {found[i + 1].data(), found[i + 1].size()};
  return true;
}

struct PathRegexList::Set {
  Set() : regexes(optionsOf(kSetMemoryBytes), RE2::UNANCHORED) {}
  RE2::Set regexes;
};

PathRegexList::PathRegexList() noexcept = default;
PathRegexList::PathRegexList(PathRegexList&&) noexcept = default;
PathRegexList& PathRegexList::operator=(PathRegexList&&) noexcept = default;
PathRegexList::~PathRegexList() = default;

Result<PathRegexList> PathRegexList::build(std::vector<PathRegex> regexes) {
  if (regexes.size() > kMost) {
    return Status::error(fmt::format("{} regular expressions; at most {} can be", regexes.size(), kMost));
  }
  PathRegexList made;
  made.regexes_ = std::move(regexes);
  made.groupByPrefix();
  if (made.regexes_.size() <= kFew) return made;
  auto set = std::make_unique<Set>();
  for (const PathRegex& regex : made.regexes_) {
    if (set->regexes.Add(regex.text(), nullptr) < 0) return made;  // cannot be: it has been compiled
  }
  if (set->regexes.Compile()) made.set_ = std::move(set);
  return made;
}

void PathRegexList::groupByPrefix() {
  std::vector<size_t> order(regexes_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return regexes_[a].prefix() < regexes_[b].prefix(); });
  for (const size_t i : order) {
    const std::string& prefix = regexes_[i].prefix();
    const bool covered =
        !groups_.empty() && prefix.compare(0, groups_.back().prefix.size(), groups_.back().prefix) == 0;
    if (!covered) groups_.push_back({prefix, {}});
    groups_.back().regexes.push_back(i);
  }
  for (Group& group : groups_) std::sort(group.regexes.begin(), group.regexes.end());
}

// nullptr: none can fit.
const PathRegexList::Group* PathRegexList::groupOf(std::string_view path) const noexcept {
  // As no prefix begins with another, only the last one not behind the path can be its beginning.
  const auto next =
      std::upper_bound(groups_.begin(), groups_.end(), path,
                       [](std::string_view text, const Group& group) { return text < group.prefix; });
  if (next == groups_.begin()) return nullptr;
  const Group& group = *std::prev(next);
  return path.compare(0, group.prefix.size(), group.prefix) == 0 ? &group : nullptr;
}

size_t PathRegexList::find(std::string_view path, Captures& captures) const noexcept {
  const Group* group = groupOf(path);
  if (group == nullptr) return kNone;
  if (set_ == nullptr || group->regexes.size() <= kFew) return findInTurn(group->regexes, path, captures);
  const re2::StringPiece text(path.data(), path.size());
  RE2::Set::ErrorInfo error{};
  // Which one fits costs an allocation, whether one does none.
  if (!set_->regexes.Match(text, nullptr, &error)) {
    return error.kind == RE2::Set::kNoError ? kNone : findInTurn(group->regexes, path, captures);
  }
  std::vector<int> fitting;
  if (set_->regexes.Match(text, &fitting, &error) && !fitting.empty()) {
    const auto first = static_cast<size_t>(*std::min_element(fitting.begin(), fitting.end()));
    if (regexes_[first].match(path, captures)) return first;
  }
  return findInTurn(group->regexes, path, captures);
}

size_t PathRegexList::findInTurn(const std::vector<size_t>& among, std::string_view path,
                                 Captures& captures) const noexcept {
  for (const size_t i : among) {
    if (regexes_[i].match(path, captures)) return i;
  }
  return kNone;
}

}  // namespace roost::http
