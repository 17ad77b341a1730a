// What the makers of statements share: whose columns are meant, how they are written, and what goes wrong.
// Within tables/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "db/value.h"
#include "tables/exposure.h"
#include "tables/query.h"
#include "tables/scanner.h"

namespace roost::tables {

// How a column is written. Where two tables meet in a statement the outer one is `t`, the other `e`.
enum class Scope : uint8_t { kPlain, kOuter, kInner };

struct SqlContext {
  const ExposedTable& table;
  const Exposure& exposure;
  Problem& problem;
  Scope scope = Scope::kPlain;
  bool fixed = false;           // the configuration's own words, which may speak of what is not shown
  const Query* root = nullptr;  // where conditions may be about its embedded tables; else nullptr

  bool isMariaDb() const noexcept { return exposure.catalog->is_mariadb; }
  std::string_view timeZone() const noexcept { return exposure.catalog->time_zone; }

  bool refuse(std::string_view code, std::string detail, std::string hint = {}) const;  // false
  bool within(std::string_view place) const;  // puts "place: " before the problem's detail; false
  // nullptr: the problem is told.
  const Column* find(std::string_view column) const;
  void append(const Column& column, db::SqlText& out) const;
};

// A path's column and what it comes to.
struct Operand {
  const Column* column = nullptr;
  const Path* path = nullptr;
  bool isColumn() const noexcept { return path->steps.empty(); }
  bool isJsonText() const noexcept { return !isColumn() && path->as_text; }
  bool isJsonValue() const noexcept { return !isColumn() && !path->as_text; }
};

bool isJson(const Column& column) noexcept;
bool isText(const Column& column) noexcept;  // CHAR, VARCHAR, TEXT, ENUM, SET
bool isBoolean(const Column& column) noexcept;
bool isEnum(const Column& column) noexcept;
bool isSet(const Column& column) noexcept;

// The position of an ENUM's value, which is what it is ordered by.
bool convertMember(const SqlContext& context, const Column& column, std::string_view text, db::Value& out);
// The mark of a value that a column is compared with. A decimal as text would be compared as a double.
void appendMark(const Column& column, db::SqlText& out);

// False: there is no such column, or no JSON in it where the path has arrows.
bool resolve(const SqlContext& context, const Path& path, Operand& out);
// The column; JSON_EXTRACT(column, ?) for "->"; text for "->>", NULL where JSON has null.
void appendOperand(const SqlContext& context, const Operand& operand, db::Statement& out);
// JSON_EXTRACT(column, ?), whichever arrow was last.
void appendExtract(const SqlContext& context, const Operand& operand, db::Statement& out);
// "$.\"a\"[0]": the path as JSON functions read it.
std::string jsonPathText(const Path& path);
std::string pathText(const Path& path);  // as the client wrote it, for messages and as a name

// The next power of two: how many marks there are for that many values.
size_t padded(size_t count) noexcept;
void appendNumber(size_t number, db::SqlText& out);  // in decimal digits, of this program's own counting

// Conditions: joined by AND, in parentheses where need be. REQUIRES: !conditions.empty().
bool appendConditions(const SqlContext& context, const std::vector<Condition>& conditions,
                      db::Statement& out);
// A full-text search, "MATCH(...) AGAINST(? IN BOOLEAN MODE)".
bool appendFullText(const SqlContext& context, const Condition& condition, db::Statement& out);

}  // namespace roost::tables
