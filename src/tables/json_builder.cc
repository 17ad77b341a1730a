#include "tables/json_builder.h"

#include <fmt/format.h>

#include <utility>

#include "tables/output.h"

namespace roost::tables {

void JsonBuilder::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (levels_.back().has_some) text_ += ',';
  levels_.back().has_some = true;
}

bool JsonBuilder::literal(std::string_view text) {
  separate();
  text_ += text;
  return true;
}

bool JsonBuilder::string(std::string_view utf8) {
  separate();
  appendJsonString(utf8, text_);
  return true;
}

bool JsonBuilder::key(std::string_view name) {
  if (!levels_.back().names.emplace(name).second) {
    fault_ = fmt::format("\"{}\" stands twice in an object", name);
    return false;
  }
  separate();
  appendJsonString(name, text_);
  text_ += ':';
  after_key_ = true;
  return true;
}

bool JsonBuilder::open(bool is_object) {
  if (levels_.size() >= max_depth_) {
    fault_ = fmt::format("a document nests deeper than {}", max_depth_);
    return false;
  }
  separate();
  levels_.emplace_back();
  levels_.back().is_object = is_object;
  text_ += is_object ? '{' : '[';
  return true;
}

bool JsonBuilder::close() {
  text_ += levels_.back().is_object ? '}' : ']';
  levels_.pop_back();
  return true;
}

std::string JsonBuilder::take() {
  levels_.clear();
  after_key_ = false;
  return std::exchange(text_, {});
}

}  // namespace roost::tables
