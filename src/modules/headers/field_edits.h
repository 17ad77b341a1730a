#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "http/exchange.h"
#include "http/template.h"
#include "module/status_set.h"

namespace roost::modules::headers {

// One change of one field.
struct FieldEdit {
  enum class Action : uint8_t { kRemove, kSet, kAppend };
  Action action = Action::kSet;
  std::string name;
  std::vector<http::Template> values;  // a field line each; none of kRemove
};

// The changes that are made to some answers, in their order.
struct EditRule {
  module::StatusSet statuses;      // empty: every status
  std::vector<std::string> paths;  // patterns (http::globMatches); empty: every path
  std::vector<FieldEdit> edits;

  bool appliesTo(std::string_view path, int status) const noexcept;
};

// Reads "remove", "set" and "append" of an object, in this order. `names` are the parts of the route's path.
// Errors: a name that is no token, or one that is the server's own business; a value that no field can have.
Result<std::vector<FieldEdit>> readEdits(config::Node node, const std::vector<std::string>& names);

// Takes the edits of every field that has a value made of the request out of `rules`: all of them, so that
// the order among those of one field stays. What is left needs no request.
std::vector<EditRule> takeEditsByRequest(std::vector<EditRule>& rules);

// `exchange` fills in the values' variables; nullptr where there are none.
void applyEdits(const std::vector<EditRule>& rules, std::string_view path, const http::Exchange* exchange,
                http::ResponseHead& head);

}  // namespace roost::modules::headers
