#include "config/env.h"

#include <fmt/format.h>

namespace roost::config {
namespace {

constexpr size_t kLongestExpansion = 1 << 20;

bool isName(std::string_view name) noexcept {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!letter && c != '_' && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

// Appends what "NAME" or "NAME:default" stands for. Returns what is wrong, or "".
std::string appendReference(std::string_view inside, const EnvLookup& env, std::string& out) {
  const size_t colon = inside.find(':');
  const std::string name(inside.substr(0, colon));
  if (!isName(name)) return fmt::format("{} is not the name of an environment variable", inQuotes(name));
  if (const auto value = env(name)) {
    out += *value;
  } else if (colon != std::string_view::npos) {
    out += inside.substr(colon + 1);
  } else {
    return fmt::format("the environment variable {0} is not set; ${{{0}:...}} would give it a default", name);
  }
  return {};
}

// Expands value, or returns what is wrong.
std::string expandString(Value& value, const EnvLookup& env) {
  const std::string_view text = value.string;
  if (text.find("${") == std::string_view::npos) return {};
  std::string out;
  size_t at = 0;
  for (size_t mark; (mark = text.find("${", at)) != std::string_view::npos;) {
    out += text.substr(at, mark - at);
    if (mark > at && text[mark - 1] == '$') {  // the escape: its first "$" is already in out
      out += '{';
      at = mark + 2;
      continue;
    }
    const size_t end = text.find('}', mark);
    if (end == std::string_view::npos) return "a ${ is never closed with }; $${ stands for the characters ${";
    const std::string_view inside = text.substr(mark + 2, end - mark - 2);
    const bool nested = inside.find("${") != std::string_view::npos;
    std::string wrong = nested ? "one ${} cannot stand within another" : appendReference(inside, env, out);
    if (!wrong.empty()) return wrong;
    if (out.size() > kLongestExpansion) return "too long once its ${} references are replaced";
    value.is_reference = mark == 0 && end + 1 == text.size();
    at = end + 1;
  }
  out += text.substr(at);
  value.string = std::move(out);
  return {};
}

}  // namespace

void expandReferences(Value& value, const EnvLookup& env, Errors& errors) {
  if (value.is(Kind::kString)) {
    std::string wrong = expandString(value, env);
    value.is_broken = !wrong.empty();
    if (value.is_broken) errors.add(value.at, std::move(wrong));
  }
  for (Value& child : value.children) expandReferences(child, env, errors);
}

}  // namespace roost::config
