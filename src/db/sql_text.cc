#include "db/sql_text.h"

namespace roost::db {

Identifier Identifier::ofSchema(std::string_view name) {
  Identifier made;
  made.text_.reserve(name.size() + 2);
  made.text_ += '`';
  for (const char c : name) {
    if (c == '`') made.text_ += '`';
    made.text_ += c;
  }
  made.text_ += '`';
  return made;
}

SqlText& SqlText::marks(size_t count) {
  for (size_t i = 0; i < count; ++i) text_ += i == 0 ? "?" : ",?";
  return *this;
}

}  // namespace roost::db
