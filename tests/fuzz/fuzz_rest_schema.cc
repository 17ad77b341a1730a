// links: roost_tables
// What a database says of its columns: any members of an ENUM come back as they were before the server put
// them into a type, a pattern of them fits them alone, and any check clause is read to its end.
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "support/fuzz_require.h"
#include "tables/column_facts.h"
#include "tables/openapi_columns.h"

namespace {

using namespace roost::tables;  // NOLINT
using roost::test::require;

constexpr size_t kLongestPattern = 64;  // std::regex recurses

// As the server writes a member.
void appendMember(std::string_view member, std::string& type) {
  type += '\'';
  for (const char c : member) {
    switch (c) {
      case '\0':
        type += "\\0";
        break;
      case '\n':
        type += "\\n";
        break;
      case '\r':
        type += "\\r";
        break;
      case '\\':
        type += "\\\\";
        break;
      case '\'':
        type += "''";
        break;
      default:
        type += c;
    }
  }
  type += '\'';
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t end; (end = text.find('|')) != std::string_view::npos; text.remove_prefix(end + 1))
    parts.emplace_back(text.substr(0, end));
  parts.emplace_back(text);
  return parts;
}

void checkMembers(std::string_view text) {
  const std::vector<std::string> members = split(text);
  std::string type = "enum(";
  for (const std::string& member : members) {
    if (type.back() != '(') type += ',';
    appendMember(member, type);
  }
  require(membersOf(type + ")") == members, "the members are the same");
  const std::string& first = members.front();
  if (first.empty() || first.size() > kLongestPattern || first.find('\0') != std::string::npos) return;
  const std::regex pattern(escapedForPattern(first));
  require(std::regex_match(first, pattern), "a pattern fits what it was made of");
  require(!std::regex_match(first + "x", pattern), "and nothing more");
}

void checkName(std::string_view name) {
  const std::string clause = "json_valid(`" + std::string(name) + "`)";
  const std::vector<std::string> columns = jsonColumnsOf(clause);
  if (name.find('`') == std::string_view::npos) {
    require(columns.size() == 1 && columns.front() == name, "a plain clause names its column");
    require(jsonColumnsOf("`a` > 1 and " + clause) == columns, "among others as well");
    require(jsonColumnsOf("`a` > 1 or " + clause).empty(), "but not where others will do");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(membersOf(text));
  static_cast<void>(jsonColumnsOf(text));
  checkMembers(text);
  checkName(text);
  return 0;
}
