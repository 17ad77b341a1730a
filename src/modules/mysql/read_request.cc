#include "modules/mysql/read_request.h"

#include <array>
#include <charconv>

#include "http/accept.h"
#include "http/ascii.h"
#include "http/message.h"
#include "http/token_list.h"

namespace roost::modules::mysql {
namespace {

using tables::Format;

// The first is sent where several are liked as well.
constexpr std::array<Form, 7> kForms = {{
    {Format::kJson, false, false, "application/json", ""},
    {Format::kJson, true, false, "application/vnd.pgrst.object+json", "-o"},
    {Format::kNdjson, false, false, "application/x-ndjson", "-n"},
    {Format::kNdjson, false, false, "application/ndjson", "-n"},
    {Format::kCsv, false, false, "text/csv; charset=utf-8", "-c"},
    {Format::kJson, true, false, "application/vnd.pgrst.object", "-o"},
    {Format::kJson, false, false, "application/vnd.pgrst.array+json", ""},
}};
// Types with a parameter are asked for by themselves.
constexpr std::array<Form, 2> kStripped = {{
    {Format::kJson, true, true, "application/vnd.pgrst.object+json;nulls=stripped", "-os"},
    {Format::kJson, false, true, "application/vnd.pgrst.array+json;nulls=stripped", "-s"},
}};

constexpr std::string_view kItems = "items=";

constexpr std::string_view kOnlySchema = "public";

bool isProfile(std::string_view name) noexcept {
  return http::equalsToken("accept-profile", name) || http::equalsToken("content-profile", name);
}

bool readNumber(std::string_view text, uint64_t& out) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stopped == end && !text.empty();
}

}  // namespace

bool chooseForm(const http::RequestHead& head, Form& form) noexcept {
  const std::string_view accept = head.get(http::FieldId::kAccept);
  form = kForms[0];
  if (accept.empty() || accept == "*/*" || accept == kForms[0].content_type) return true;
  for (const Form& candidate : kStripped) {
    if (!http::equalsToken(candidate.content_type, accept)) continue;
    form = candidate;
    return true;
  }
  if (accept.find("nulls=") != std::string_view::npos) return false;
  int best = 0;
  for (const Form& candidate : kForms) {
    const int quality = http::qualityOf(head, candidate.content_type);
    if (quality <= best) continue;
    best = quality;
    form = candidate;
  }
  return best > 0;
}

bool readPrefer(const http::RequestHead& head, tables::Preferences& out, tables::Problem& problem) {
  if ((head.present & http::fieldBit(http::FieldId::kOther)) == 0) return true;
  for (size_t i = 0; i < head.field_count; ++i) {
    const http::Field& field = head.fields[i];
    if (field.id != http::FieldId::kOther || !http::equalsToken("prefer", head.name(field))) continue;
    tables::readPreferences(head.value(field), out);
  }
  if (!out.strict || out.unknown.empty()) return true;
  problem = {400,
             "unknown_preference",
             "Prefer: handling=strict, and this means nothing here: " + out.unknown,
             "leave it out, or handling=strict",
             {}};
  return false;
}

bool readProfile(const http::RequestHead& head, std::string_view database, tables::Problem& problem) {
  if ((head.present & http::fieldBit(http::FieldId::kOther)) == 0) return true;
  for (size_t i = 0; i < head.field_count; ++i) {
    const http::Field& field = head.fields[i];
    if (field.id != http::FieldId::kOther || !isProfile(head.name(field))) continue;
    const std::string_view schema = head.value(field);
    if (schema == kOnlySchema || (!schema.empty() && schema == database)) continue;
    problem = {406,
               "PGRST106",
               "no other schema is served here",
               "Leave out Accept-Profile and Content-Profile, or say \"public\".",
               {}};
    return false;
  }
  return true;
}

bool readRange(const http::RequestHead& head, std::optional<tables::RowRange>& out,
               tables::Problem& problem) {
  if (!head.has(http::FieldId::kRange)) return true;
  std::string_view value = http::trimOws(head.get(http::FieldId::kRange));
  const std::string_view unit = head.get("Range-Unit");
  if (!unit.empty() && !http::equalsToken("items", unit)) return true;
  if (value.substr(0, kItems.size()) == kItems) value.remove_prefix(kItems.size());
  const size_t dash = value.find('-');
  if (dash == std::string_view::npos) return true;
  tables::RowRange range;
  if (!readNumber(value.substr(0, dash), range.first)) return true;
  const std::string_view last = value.substr(dash + 1);
  uint64_t number = 0;
  if (!last.empty()) {
    if (!readNumber(last, number)) return true;
    range.last = number;
    if (number < range.first) {
      problem = {416, "range_not_satisfiable", "the range ends before it begins", {}, {}};
      return false;
    }
  }
  out = range;
  return true;
}

}  // namespace roost::modules::mysql
