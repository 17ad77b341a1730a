#include "tables/preferences.h"

#include <charconv>

namespace roost::tables {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) noexcept {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Names of preferences know no case (RFC 7240 section 2).
bool isNamed(std::string_view name, std::string_view wanted) noexcept {
  if (name.size() != wanted.size()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (lower(name[i]) != wanted[i]) return false;
  }
  return true;
}

// One word for a preference, and what it sets where nothing has before.
template <class Setting>
struct Word {
  std::string_view value;
  Setting setting;
};
template <class Setting, size_t N>
bool choose(std::string_view value, const Word<Setting> (&words)[N], Setting unset, Setting& out) noexcept {
  for (const Word<Setting>& word : words) {
    if (word.value != value) continue;
    if (out == unset) out = word.setting;
    return true;
  }
  return false;
}

using Return = Preferences::Return;
using Count = Preferences::Count;
using Resolution = Preferences::Resolution;
using Missing = Preferences::Missing;

constexpr Word<Return> kReturns[] = {{"minimal", Return::kMinimal},
                                     {"headers-only", Return::kHeadersOnly},
                                     {"representation", Return::kRepresentation}};
constexpr Word<Count> kCounts[] = {
    {"exact", Count::kExact}, {"planned", Count::kPlanned}, {"estimated", Count::kEstimated}};
constexpr Word<Resolution> kResolutions[] = {{"merge-duplicates", Resolution::kMerge},
                                             {"ignore-duplicates", Resolution::kIgnore}};
constexpr Word<Missing> kMissings[] = {{"default", Missing::kDefault}, {"null", Missing::kNull}};

bool readMaxAffected(std::string_view value, Preferences& out) noexcept {
  uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || stopped != end) return false;
  if (!out.max_affected) out.max_affected = number;
  return true;
}

bool readOne(std::string_view name, std::string_view value, Preferences& out) noexcept {
  if (isNamed(name, "return")) return choose(value, kReturns, Return::kUnsaid, out.returns);
  if (isNamed(name, "count")) return choose(value, kCounts, Count::kNone, out.count);
  if (isNamed(name, "resolution")) return choose(value, kResolutions, Resolution::kNone, out.resolution);
  if (isNamed(name, "missing")) return choose(value, kMissings, Missing::kUnsaid, out.missing);
  if (isNamed(name, "max-affected")) return readMaxAffected(value, out);
  if (isNamed(name, "handling")) {
    if (value != "strict" && value != "lenient") return false;
    out.strict = out.strict || value == "strict";
    return true;
  }
  if (isNamed(name, "tx")) {
    if (value != "rollback" && value != "commit") return false;
    out.rollback = out.rollback || value == "rollback";
    return true;
  }
  return false;
}

template <class Setting, size_t N>
void append(std::string& out, std::string_view name, const Word<Setting> (&words)[N], Setting setting) {
  for (const Word<Setting>& word : words) {
    if (word.setting != setting) continue;
    if (!out.empty()) out += ", ";
    out.append(name).append(word.value);
  }
}

}  // namespace

void readPreferences(std::string_view field, Preferences& out) {
  while (!field.empty()) {
    const size_t comma = field.find(',');
    // Parameters of a preference mean nothing here.
    const std::string_view element = trimmed(field.substr(0, comma));
    field = comma == std::string_view::npos ? std::string_view{} : field.substr(comma + 1);
    if (element.empty()) continue;
    const std::string_view preference = trimmed(element.substr(0, element.find(';')));
    const size_t equals = preference.find('=');
    const std::string_view name = trimmed(preference.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos
                                       ? std::string_view{}
                                       : unquoted(trimmed(preference.substr(equals + 1)));
    if (readOne(name, value, out)) continue;
    if (!out.unknown.empty()) out.unknown += ", ";
    out.unknown.append(element);
  }
}

std::string appliedPreferences(const Preferences& preferences, bool is_write) {
  std::string out;
  if (is_write) {
    append(out, "resolution=", kResolutions, preferences.resolution);
    append(out, "missing=", kMissings, preferences.missing);
    append(out, "return=", kReturns, preferences.returns);
  }
  append(out, "count=", kCounts, preferences.count);
  const auto add = [&out](std::string_view text) { out.append(out.empty() ? "" : ", ").append(text); };
  if (is_write && preferences.rollback) add("tx=rollback");
  if (preferences.strict) add("handling=strict");
  if (is_write && preferences.strict && preferences.max_affected)
    add("max-affected=" + std::to_string(*preferences.max_affected));
  return out;
}

}  // namespace roost::tables
