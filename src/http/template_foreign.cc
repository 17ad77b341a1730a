// Variables as other servers write them.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "http/template.h"

namespace roost::http {
namespace {

struct Word {
  std::string_view theirs, ours;
};
// nginx's, by name.
constexpr Word kWords[] = {
    {"host", "{host}"},
    {"http_host", "{header.Host}"},
    {"server_name", "{host}"},
    {"uri", "{path}"},
    {"document_uri", "{path}"},
    {"request_uri", "{target}"},
    {"args", "{query}"},
    {"query_string", "{query}"},
    {"scheme", "{scheme}"},
    {"request_method", "{method}"},
    {"remote_addr", "{client}"},
    {"remote_port", "{client_port}"},
    {"realip_remote_addr", "{peer}"},
    {"remote_user", "{user}"},
    {"request_id", "{request_id}"},
};
constexpr Word kPrefixes[] = {{"arg_", "query."}, {"http_", "header."}, {"cookie_", "cookie."}};

// What stands here in place of `$name`; empty: nothing known.
std::string oursFor(std::string_view name) {
  for (const Word& word : kWords) {
    if (word.theirs == name) return std::string(word.ours);
  }
  for (const Word& prefix : kPrefixes) {
    if (name.size() <= prefix.theirs.size() || name.substr(0, prefix.theirs.size()) != prefix.theirs)
      continue;
    std::string rest(name.substr(prefix.theirs.size()));
    if (prefix.ours == "header.") std::replace(rest.begin(), rest.end(), '_', '-');
    return fmt::format("{{{}{}}}", prefix.ours, rest);
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.size() == 1 && digit(name[0]) ? fmt::format("{{{}}}", name) : std::string();
}

}  // namespace

Status checkForeignVariables(std::string_view text) {
  const auto part_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && part_of_name(text[end])) ++end;
    const std::string ours = oursFor(text.substr(at + 1, end - at - 1));
    if (!ours.empty()) {
      return Status::error(
          fmt::format("\"{}\" would stand for itself: write \"{}\"", text.substr(at, end - at), ours));
    }
  }
  return {};
}

}  // namespace roost::http
