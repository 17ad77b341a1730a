#include "modules/headers/field_edits.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "http/ascii.h"
#include "http/field_syntax.h"
#include "http/glob.h"

namespace roost::modules::headers {
namespace {

// What tells how the message is framed and how the connection goes on is for whoever writes the message.
constexpr std::array<std::string_view, 10> kOwnFields{
    "Connection", "Content-Length",    "Date",    "Keep-Alive", "Proxy-Connection", "TE",
    "Trailer",    "Transfer-Encoding", "Upgrade", "Server"};

// Of content that is not there (RFC 9110 section 15.4.5).
constexpr std::array<std::string_view, 3> kContentFields{"Content-Type", "Content-Encoding",
                                                         "Content-Language"};

template <size_t N>
bool isOneOf(const std::array<std::string_view, N>& names, std::string_view name) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view own) { return http::equalsToken(own, name); });
}

Status checkName(const std::string& name) {
  if (!http::isToken(name)) return Status::error("\"" + name + "\" is not the name of a field");
  if (http::equalsToken(name, "Server")) {
    return Status::error("\"Server\" is set by http.server_header; \"server_header\": \"\" leaves it out");
  }
  if (isOneOf(kOwnFields, name)) {
    return Status::error("\"" + name + "\" is the server's own business and cannot be changed");
  }
  return {};
}

Status addValue(FieldEdit& edit, const std::string& text, const std::vector<std::string>& names) {
  if (!http::isFieldValue(text)) {
    return Status::error("\"" + edit.name +
                         "\": the value holds a control character, or begins or ends with a space");
  }
  if (Status foreign = http::checkForeignVariables(text); !foreign.ok())
    return Status::error("\"" + edit.name + "\": " + foreign.message());
  Result<http::Template> made = http::Template::compile(text, names);
  if (!made.ok()) return Status::error("\"" + edit.name + "\": " + made.status().message());
  edit.values.push_back(std::move(*made));
  return {};
}

Status addEdits(config::Node fields, FieldEdit::Action action, const std::vector<std::string>& names,
                std::vector<FieldEdit>& edits) {
  for (const config::Member member : fields.members()) {
    FieldEdit edit;
    edit.action = action;
    edit.name = std::string(member.key);
    Status status = checkName(edit.name);
    if (status.ok() && member.value.isString()) status = addValue(edit, member.value.asString(), names);
    for (size_t i = 0; status.ok() && member.value.isArray() && i < member.value.size(); ++i) {
      status = addValue(edit, member.value.at(i).asString(), names);
    }
    if (!status.ok()) return status;
    edits.push_back(std::move(edit));
  }
  return {};
}

bool isByRequest(const FieldEdit& edit) noexcept {
  return std::any_of(edit.values.begin(), edit.values.end(),
                     [](const http::Template& value) { return !value.isLiteral(); });
}

void apply(const FieldEdit& edit, const http::Exchange* exchange, http::ResponseHead& head) {
  const bool without_content = head.status == 304 || head.status == 204;
  if (without_content && edit.action != FieldEdit::Action::kRemove && isOneOf(kContentFields, edit.name)) {
    return;
  }
  if (edit.action != FieldEdit::Action::kAppend) {
    head.remove(edit.name);
    if (http::equalsToken(edit.name, "Expires")) head.expires_after_s = http::ResponseHead::kNoExpiry;
  }
  for (const http::Template& value : edit.values) {
    if (value.isLiteral()) {
      if (!value.text().empty()) head.add(edit.name, value.text());
      continue;
    }
    if (exchange == nullptr) continue;
    std::string text;
    value.appendFieldValue(text, *exchange);
    if (!text.empty()) head.add(edit.name, text);
  }
}

}  // namespace

bool EditRule::appliesTo(std::string_view path, int status) const noexcept {
  if (!statuses.empty() && !statuses.has(status)) return false;
  return paths.empty() || std::any_of(paths.begin(), paths.end(), [path](const std::string& pattern) {
           return http::globMatches(pattern, path);
         });
}

Result<std::vector<FieldEdit>> readEdits(config::Node node, const std::vector<std::string>& names) {
  std::vector<FieldEdit> edits;
  for (size_t i = 0; i < node["remove"].size(); ++i) {
    FieldEdit edit;
    edit.action = FieldEdit::Action::kRemove;
    edit.name = node["remove"].at(i).asString();
    Status status = checkName(edit.name);
    if (!status.ok()) return status;
    edits.push_back(std::move(edit));
  }
  Status status = addEdits(node["set"], FieldEdit::Action::kSet, names, edits);
  if (status.ok()) status = addEdits(node["append"], FieldEdit::Action::kAppend, names, edits);
  if (!status.ok()) return status;
  return edits;
}

std::vector<EditRule> takeEditsByRequest(std::vector<EditRule>& rules) {
  std::vector<std::string> names;
  for (const EditRule& rule : rules) {
    for (const FieldEdit& edit : rule.edits) {
      if (isByRequest(edit)) names.push_back(edit.name);
    }
  }
  const auto stays = [&names](const FieldEdit& edit) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return http::equalsToken(name, edit.name); });
  };
  std::vector<EditRule> taken;
  for (EditRule& rule : rules) {
    EditRule other{rule.statuses, rule.paths, {}};
    const auto first = std::stable_partition(rule.edits.begin(), rule.edits.end(), stays);
    std::move(first, rule.edits.end(), std::back_inserter(other.edits));
    rule.edits.erase(first, rule.edits.end());
    if (!other.edits.empty()) taken.push_back(std::move(other));
  }
  rules.erase(
      std::remove_if(rules.begin(), rules.end(), [](const EditRule& rule) { return rule.edits.empty(); }),
      rules.end());
  return taken;
}

void applyEdits(const std::vector<EditRule>& rules, std::string_view path, const http::Exchange* exchange,
                http::ResponseHead& head) {
  const int status = head.status;
  for (const EditRule& rule : rules) {
    if (!rule.appliesTo(path, status)) continue;
    for (const FieldEdit& edit : rule.edits) apply(edit, exchange, head);
  }
}

}  // namespace roost::modules::headers
