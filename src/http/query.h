#pragma once

#include <algorithm>
#include <string_view>

namespace roost::http {

// One of the arguments of a query ("a=1&b"), as sent.
struct QueryArgument {
  std::string_view name;
  std::string_view value;
  bool has_value = false;  // there is a '='
};

// Takes the first argument off; false: there is none any more.
inline bool nextArgument(std::string_view& query, QueryArgument& out) noexcept {
  if (query.empty()) return false;
  const std::string_view pair = query.substr(0, query.find('&'));
  query.remove_prefix(std::min(query.size(), pair.size() + 1));
  const size_t equals = pair.find('=');
  out.name = pair.substr(0, equals);
  out.has_value = equals != std::string_view::npos;
  out.value = out.has_value ? pair.substr(equals + 1) : std::string_view{};
  return true;
}

}  // namespace roost::http
