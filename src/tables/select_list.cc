#include "tables/select_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tables/read.h"

namespace roost::tables {
namespace {

enum class Cast : uint8_t { kText, kInteger, kReal, kNumeric, kDate, kTime, kMoment, kBoolean, kJson };

struct CastWord {
  std::string_view word;
  Cast cast;
};

// PostgreSQL's names of types.
constexpr std::array<CastWord, 30> kCasts = {{
    {"text", Cast::kText},
    {"varchar", Cast::kText},
    {"char", Cast::kText},
    {"bpchar", Cast::kText},
    {"character varying", Cast::kText},
    {"int", Cast::kInteger},
    {"int2", Cast::kInteger},
    {"int4", Cast::kInteger},
    {"int8", Cast::kInteger},
    {"integer", Cast::kInteger},
    {"smallint", Cast::kInteger},
    {"bigint", Cast::kInteger},
    {"float", Cast::kReal},
    {"float4", Cast::kReal},
    {"float8", Cast::kReal},
    {"real", Cast::kReal},
    {"double precision", Cast::kReal},
    {"numeric", Cast::kNumeric},
    {"decimal", Cast::kNumeric},
    {"date", Cast::kDate},
    {"time", Cast::kTime},
    {"timestamp", Cast::kMoment},
    {"timestamptz", Cast::kMoment},
    {"timestamp without time zone", Cast::kMoment},
    {"timestamp with time zone", Cast::kMoment},
    {"bool", Cast::kBoolean},
    {"boolean", Cast::kBoolean},
    {"json", Cast::kJson},
    {"jsonb", Cast::kJson},
    {"datetime", Cast::kMoment},
}};

const CastWord* findCast(std::string_view word) noexcept {
  const auto found =
      std::find_if(kCasts.begin(), kCasts.end(), [word](const CastWord& cast) { return cast.word == word; });
  return found == kCasts.end() ? nullptr : found;
}

bool isExactNumber(const Column& column) noexcept {
  return column.type == db::Type::kInt || column.type == db::Type::kUint || column.type == db::Type::kDecimal;
}

bool isNumber(const Column& column) noexcept {
  return isExactNumber(column) || column.type == db::Type::kFloat || column.type == db::Type::kDouble;
}

bool isMoment(const Column& column) noexcept {
  return column.type == db::Type::kDateTime || column.type == db::Type::kTimestamp;
}

// Whether the column's own cell already is what the cast makes.
bool isNoCast(Cast cast, const Column& column) noexcept {
  switch (cast) {
    case Cast::kText:
      return isText(column);
    case Cast::kInteger:
      return !isBoolean(column) && (column.type == db::Type::kInt || column.type == db::Type::kUint);
    case Cast::kReal:
      return column.type == db::Type::kDouble || column.type == db::Type::kFloat;
    case Cast::kNumeric:
      return isExactNumber(column) && !isBoolean(column);
    case Cast::kDate:
      return column.type == db::Type::kDate;
    case Cast::kTime:
      return column.type == db::Type::kTime;
    case Cast::kMoment:
      return isMoment(column);
    case Cast::kBoolean:
      return isBoolean(column);
    case Cast::kJson:
      return isJson(column);
  }
  return false;
}

// Appends the column so cast. False: the two databases would differ, or it cannot be at all.
bool appendCast(const SqlContext& context, Cast cast, const Column& column, db::SqlText& out) {
  const bool boolean = isBoolean(column);
  if (cast == Cast::kText && boolean) {
    out << "CASE WHEN ";
    context.append(column, out);
    out << " <> 0 THEN 'true' WHEN ";
    context.append(column, out);
    out << " = 0 THEN 'false' END";
    return true;
  }
  if (cast == Cast::kText && (column.type == db::Type::kBytes || column.type == db::Type::kGeometry ||
                              column.type == db::Type::kBit))
    return false;
  if (cast == Cast::kInteger && isNumber(column)) {
    out << "CAST(";
    context.append(column, out);
    out << " AS SIGNED)";
    return true;
  }
  if (cast == Cast::kReal && isNumber(column)) {
    context.append(column, out);
    out << "+0e0";
    return true;
  }
  if (cast == Cast::kBoolean && isNumber(column)) {
    context.append(column, out);
    out << " <> 0";
    return true;
  }
  const bool to_moment = cast == Cast::kMoment && column.type == db::Type::kDate;
  const bool from_moment = (cast == Cast::kDate || cast == Cast::kTime) && isMoment(column);
  if (cast != Cast::kText && !to_moment && !from_moment) return false;
  out << "CAST(";
  context.append(column, out);
  if (cast == Cast::kText) out << " AS CHAR)";
  if (cast == Cast::kDate) out << " AS DATE)";
  if (cast == Cast::kTime) out << " AS TIME(6))";
  if (cast == Cast::kMoment) out << " AS DATETIME)";
  return true;
}

}  // namespace

std::string jsonKey(std::string_view name) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; };
  std::string out;
  if (std::all_of(name.begin(), name.end(), is_plain)) {  // as nearly every name
    out.resize(name.size() + 3, '"');
    std::copy(name.begin(), name.end(), out.begin() + 1);
    out.back() = ':';
    return out;
  }
  out.reserve(name.size() + 3);
  out += '"';
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[c & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += "\":";
  return out;
}

void SelectList::finish() {
  if (!named_) return;
  out_.text << " AS c";
  appendNumber(columns_.size() - 1, out_.text);
}

bool SelectList::begin(const Column* plain, const std::string& name, bool& is_new) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].hidden || columns_[i].name != name) continue;
    is_new = false;
    if (plain != nullptr && plain_[i] == plain) return true;  // the same once more
    return context_.refuse("bad_query", fmt::format("select: two columns of the name {}", inQuotes(name)),
                           "an alias gives one another name: other:column");
  }
  is_new = true;
  push(plain, name);
  return true;
}

void SelectList::push(const Column* plain, const std::string& name) {
  if (!columns_.empty()) out_.text << ",";
  columns_.emplace_back();
  columns_.back().name = name;
  columns_.back().json_key = jsonKey(name);
  plain_.push_back(plain);
}

void SelectList::finishPlain(const Column& column) {
  columns_.back().is_json = isJson(column);
  columns_.back().is_bool = isBoolean(column);
  context_.append(column, out_.text);
  finish();
}

bool SelectList::addPlain(const Column& column, const std::string& name) {
  bool is_new = false;
  if (!begin(&column, name, is_new)) return false;
  if (is_new) finishPlain(column);
  return true;
}

bool SelectList::addAll() {
  const bool alone = columns_.empty();  // as in most requests: no other column can have its name
  columns_.reserve(columns_.size() + context_.table.shown.size());
  plain_.reserve(columns_.capacity());
  for (const uint16_t at : context_.table.shown) {
    const Column& column = context_.table.table->columns[at];
    if (alone) {
      push(&column, column.name);
      finishPlain(column);
    } else if (!addPlain(column, column.name)) {
      return false;
    }
  }
  return true;
}

// The name of a place in JSON is its last member's, "data->a->>b" is "b"; of an element the column's.
bool SelectList::addPath(const Operand& operand, const std::string& name) {
  bool is_new = false;
  if (!begin(nullptr, name, is_new)) return false;
  columns_.back().is_json = operand.isJsonValue();
  columns_.back().as_text = operand.isJsonText();
  appendOperand(context_, operand, out_);
  finish();
  return true;
}

bool SelectList::addCast(const Operand& operand, const SelectItem& item, const std::string& name) {
  const CastWord* const word = findCast(item.cast);
  if (word == nullptr)
    return context_.refuse("unsupported", fmt::format("select: there is no cast to {}", inQuotes(item.cast)));
  if (!operand.isColumn()) {
    const bool same = operand.isJsonText() ? word->cast == Cast::kText : word->cast == Cast::kJson;
    if (same) return addPath(operand, name);
    return context_.refuse("unsupported",
                           fmt::format("select: {} cannot be cast to {}, only to {}", pathText(item.path),
                                       item.cast, operand.isJsonText() ? "text" : "json"));
  }
  if (isNoCast(word->cast, *operand.column)) return addPlain(*operand.column, name);
  bool is_new = false;
  if (!begin(nullptr, name, is_new)) return false;
  columns_.back().is_bool = word->cast == Cast::kBoolean;
  columns_.back().as_text = word->cast == Cast::kText;
  if (!appendCast(context_, word->cast, *operand.column, out_.text))
    return context_.refuse("unsupported", fmt::format("select: {} ({}) cannot be cast to {}",
                                                      item.path.column, operand.column->declared, item.cast));
  finish();
  return true;
}

bool SelectList::addItem(const SelectItem& item) {
  if (item.all) return addAll();
  Operand operand;
  if (!resolve(context_, item.path, operand)) return context_.within("select");
  std::string name = item.alias;
  if (name.empty()) {
    name = item.path.column;
    for (const Path::Step& step : item.path.steps)
      if (!step.is_index) name = step.key;
  }
  if (!item.cast.empty()) return addCast(operand, item, name);
  return operand.isColumn() ? addPlain(*operand.column, name) : addPath(operand, name);
}

bool SelectList::add(const Query& query) {
  if (query.select.empty()) return addAll();
  return std::all_of(query.select.begin(), query.select.end(),
                     [this](const SelectItem& item) { return item.embedded != nullptr || addItem(item); });
}

uint16_t SelectList::addHidden(const Column& column) {
  push(&column, column.name);
  columns_.back().hidden = true;
  finishPlain(column);
  return static_cast<uint16_t>(columns_.size() - 1);
}

uint16_t SelectList::positionOf(const Column& column) {
  const auto found = std::find(plain_.begin(), plain_.end(), &column);
  return found == plain_.end() ? addHidden(column) : static_cast<uint16_t>(found - plain_.begin());
}

bool SelectList::contains(const Column& column) const noexcept {
  return std::find(plain_.begin(), plain_.end(), &column) != plain_.end();
}

bool appendSelect(const ExposedTable& table, const Exposure& exposure, const Query& query, db::Statement& out,
                  std::vector<OutputColumn>& columns, Problem& problem) {
  const SqlContext context{table, exposure, problem};
  for (const SelectItem& item : query.select) {
    if (item.embedded != nullptr)
      return context.refuse("unsupported", "select: nothing can be embedded in what a write returns");
  }
  return SelectList(context, columns, out).add(query);
}

}  // namespace roost::tables
