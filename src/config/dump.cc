#include "config/schema_impl.h"

namespace roost::config {
namespace {

constexpr const char* kMask = "********";

// So that a dump loads again to the same: what looks like a reference is text by now.
std::string escaped(const std::string& text) {
  std::string out = text;
  for (size_t at = 0; (at = out.find("${", at)) != std::string::npos; at += 3) out.insert(at, 1, '$');
  return out;
}

template <class Json>
Json convert(const Value& value, bool for_people) {
  switch (value.kind) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBool:
      return value.boolean;
    case Kind::kInt:
      return value.integer;
    case Kind::kDouble:
      return value.number;
    case Kind::kString:
      if (for_people && value.is_secret && !value.string.empty()) return kMask;
      return for_people ? escaped(value.string) : value.string;
    case Kind::kArray: {
      Json json = Json::array();
      for (const Value& item : value.children) json.push_back(convert<Json>(item, for_people));
      return json;
    }
    case Kind::kObject: {
      Json json = Json::object();
      for (const Value& member : value.children) json[member.key] = convert<Json>(member, for_people);
      return json;
    }
  }
  return nullptr;
}

}  // namespace

nlohmann::json toJson(const Value& value) {
  return convert<nlohmann::json>(value, false);
}

SchemaJson toOrderedJson(const Value& value, bool for_people) {
  return convert<SchemaJson>(value, for_people);
}

}  // namespace roost::config
