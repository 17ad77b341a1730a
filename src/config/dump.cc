#include "config/schema_impl.h"

namespace roost::config {
namespace {

constexpr const char* kMask = "********";

template <class Json>
Json convert(const Value& value, bool mask_secrets) {
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
      if (mask_secrets && value.is_secret && !value.string.empty()) return kMask;
      return value.string;
    case Kind::kArray: {
      Json json = Json::array();
      for (const Value& item : value.children) json.push_back(convert<Json>(item, mask_secrets));
      return json;
    }
    case Kind::kObject: {
      Json json = Json::object();
      for (const Value& member : value.children) json[member.key] = convert<Json>(member, mask_secrets);
      return json;
    }
  }
  return nullptr;
}

}  // namespace

nlohmann::json toJson(const Value& value) {
  return convert<nlohmann::json>(value, false);
}

SchemaJson toOrderedJson(const Value& value, bool mask_secrets) {
  return convert<SchemaJson>(value, mask_secrets);
}

}  // namespace roost::config
