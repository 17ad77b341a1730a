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

void expandString(Value& value, const EnvLookup& env, Errors& errors) {
  const std::string_view text = value.string;
  if (text.find("${") == std::string_view::npos) return;
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
    if (end == std::string_view::npos) {
      errors.add(value.at, "a ${ is never closed with }; $${ stands for the characters ${");
      return;
    }
    const std::string wrong = appendReference(text.substr(mark + 2, end - mark - 2), env, out);
    if (!wrong.empty()) {
      errors.add(value.at, wrong);
      return;
    }
    if (out.size() > kLongestExpansion) {
      errors.add(value.at, "too long once its ${} references are replaced");
      return;
    }
    value.is_reference = mark == 0 && end + 1 == text.size();
    at = end + 1;
  }
  out += text.substr(at);
  value.string = std::move(out);
}

}  // namespace

void expandReferences(Value& value, const EnvLookup& env, Errors& errors) {
  if (value.is(Kind::kString)) expandString(value, env, errors);
  for (Value& child : value.children) expandReferences(child, env, errors);
}

}  // namespace roost::config
