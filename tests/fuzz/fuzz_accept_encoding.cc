// links: roost_http
// Any Accept-Encoding: every line of input is a field line. The weights are compared with those of a plain
// implementation.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/negotiation.h"
#include "support/fuzz_require.h"
#include "unit/http/head_builder.h"

namespace {

using roost::test::require;
using namespace roost::http;  // NOLINT

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> elements(const std::vector<std::string>& lines) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    std::string element;
    bool quoted = false;
    for (size_t i = 0; i <= line.size(); ++i) {
      if (i == line.size() || (line[i] == ',' && !quoted)) {
        if (!trimmed(element).empty()) found.push_back(trimmed(element));
        element.clear();
        continue;
      }
      if (line[i] == '"') quoted = !quoted;
      element += line[i];
      if (line[i] == '\\' && quoted && i + 1 < line.size()) element += line[++i];
    }
  }
  return found;
}

// In thousandths; -1: malformed.
int naiveWeight(const std::string& text) {
  std::string digits = text;
  if (digits.size() > 1 && digits[1] == '.')
    digits.erase(1, 1);
  else if (digits.size() > 1)
    return -1;
  if (digits.empty() || digits.size() > 4) return -1;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
  }
  digits.resize(4, '0');
  const int weight = std::stoi(digits);
  return weight <= 1000 ? weight : -1;
}

std::map<std::string, int> naive(const std::vector<std::string>& lines) {
  std::map<std::string, int> weights;
  size_t count = 0;
  for (const std::string& element : elements(lines)) {
    if (count++ == AcceptedCodings::kMostElements) break;
    const size_t semicolon = element.find(';');
    std::string name = trimmed(element.substr(0, semicolon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (name == "x-gzip") name = "gzip";
    int weight = 1000;
    if (semicolon != std::string::npos) {
      const std::string parameter = trimmed(element.substr(semicolon + 1));
      const bool is_weight = parameter.substr(0, 2) == "q=" || parameter.substr(0, 2) == "Q=";
      weight = is_weight ? naiveWeight(parameter.substr(2)) : -1;
    }
    if (weight >= 0) weights.emplace(name, weight);
  }
  return weights;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> lines;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty() && lines.size() < RequestHead::kMaxFields) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(trimmed(std::string(rest.substr(0, end))));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  test::HeadBuilder builder;
  for (const std::string& line : lines) builder.add(FieldId::kAcceptEncoding, line);
  const AcceptedCodings accepted(builder.head());
  const std::map<std::string, int> wanted = naive(lines);
  const auto weightOf = [&](const std::string& name, int otherwise) {
    if (const auto own = wanted.find(name); own != wanted.end()) return 2 * own->second;
    if (const auto any = wanted.find("*"); any != wanted.end()) return 2 * any->second;
    return otherwise;
  };
  require(accepted.weight(Coding::kIdentity) == weightOf("identity", 1));
  for (const Coding coding : kCodings)
    require(accepted.weight(coding) == weightOf(std::string(codingName(coding)), 0));
  CodingOrder all;
  for (const Coding coding : kCodings) all.add(coding);
  const Coding best = accepted.best(all);
  for (const Coding coding : kCodings) require(accepted.weight(coding) <= accepted.weight(best));
  require(accepted.weight(Coding::kIdentity) <= accepted.weight(best));
  return 0;
}
