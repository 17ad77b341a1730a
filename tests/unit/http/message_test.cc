#include "http/message.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "http/field_id.h"

namespace roost::http {
namespace {

TEST_CASE("every field id has a name of its own that leads back to it") {
  std::set<std::string> names;
  for (size_t i = 1; i < kFieldIdCount; ++i) {
    const auto id = static_cast<FieldId>(i);
    const std::string name(fieldName(id));
    INFO(name);
    REQUIRE_FALSE(name.empty());
    CHECK(names.insert(name).second);
    std::string lower;
    std::string upper;
    for (const char c : name) {
      lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
    CHECK(fieldId(name) == id);
    CHECK(fieldId(lower) == id);
    CHECK(fieldId(upper) == id);
    CHECK(fieldId(name.substr(0, name.size() - 1)) != id);
    CHECK(fieldId(name + "s") != id);
    CHECK(fieldId("x" + name) == FieldId::kOther);
    for (size_t at = 0; at < name.size(); ++at) {
      std::string wrong = lower;
      wrong[at] = static_cast<char>(wrong[at] ^ 0x20);
      const bool letter = lower[at] != '-';
      CHECK((fieldId(wrong) == id) == letter);  // '-' with that bit turned is CR
    }
  }
  CHECK(fieldName(FieldId::kOther).empty());
  CHECK(fieldId("") == FieldId::kOther);
  CHECK(fieldId("t") == FieldId::kOther);
  CHECK(fieldId(std::string(300, 'a')) == FieldId::kOther);
}

TEST_CASE("a head that fields are added to by hand") {
  const std::string text = "HostexampleXyx-YzVia1Via2Via3";
  RequestHead head;
  head.clear();
  head.text = text.data();
  CHECK(head.addField({0, 4, 7, 4, FieldId::kHost, 0}));
  CHECK(head.addField({11, 12, 1, 1, FieldId::kOther, 0}));
  CHECK(head.addField({13, 16, 1, 3, FieldId::kOther, 0}));
  for (uint32_t i = 0; i < 3; ++i) CHECK(head.addField({17 + 4 * i, 20 + 4 * i, 1, 3, FieldId::kVia, 0}));
  CHECK(head.get(FieldId::kHost) == "example");
  CHECK(head.get("HOST") == "example");
  CHECK(head.get("x") == "y");
  CHECK(head.get("X-y") == "z");
  CHECK(head.get("absent").empty());
  CHECK(head.get(FieldId::kAccept).empty());
  CHECK_FALSE(head.has(FieldId::kAccept));
  std::string via;
  for (const Field* field = head.find(FieldId::kVia); field != nullptr; field = head.nextOf(*field)) {
    via += head.value(*field);
  }
  CHECK(via == "123");
  CHECK(head.nextOf(*head.find(FieldId::kHost)) == nullptr);
  head.clear();
  CHECK(head.field_count == 0);
  CHECK_FALSE(head.has(FieldId::kHost));
  for (size_t i = 0; i < RequestHead::kMaxFields; ++i) CHECK(head.addField({0, 4, 7, 4, FieldId::kHost, 0}));
  CHECK_FALSE(head.addField({0, 4, 7, 4, FieldId::kHost, 0}));
}

TEST_CASE("reason phrases", "[RFC 9110 section 15]") {
  CHECK(reasonPhrase(200) == "OK");
  CHECK(reasonPhrase(404) == "Not Found");
  CHECK(reasonPhrase(413) == "Content Too Large");
  CHECK(reasonPhrase(431) == "Request Header Fields Too Large");
  CHECK(reasonPhrase(505) == "HTTP Version Not Supported");
  CHECK(reasonPhrase(299).empty());
}

}  // namespace
}  // namespace roost::http
