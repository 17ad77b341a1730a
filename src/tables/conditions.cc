// Conditions as SQL. A column is compared as it is, so that its indexes serve.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tables/json_text.h"
#include "tables/read.h"
#include "tables/relations.h"
#include "tables/sql_context.h"

namespace roost::tables {
namespace {

bool isOrdering(Operator op) noexcept {
  return op >= Operator::kGt && op <= Operator::kLte;
}

void appendComparison(Operator op, db::SqlText& out) {
  switch (op) {
    case Operator::kNeq:
      out << " <> ";
      break;
    case Operator::kGt:
      out << " > ";
      break;
    case Operator::kGte:
      out << " >= ";
      break;
    case Operator::kLt:
      out << " < ";
      break;
    case Operator::kLte:
      out << " <= ";
      break;
    case Operator::kIsDistinct:
      out << " <=> ";
      break;
    default:
      out << " = ";
      break;
  }
}

// '*' is what '%' is.
std::string likePattern(std::string pattern) {
  for (char& c : pattern)
    if (c == '*') c = '%';
  return pattern;
}

// One leaf condition. `inverted`: it stands below a NOT, where NULL must come out as SQL has it.
class Leaf {
 public:
  Leaf(const SqlContext& context, const Condition& condition, bool inverted, db::Statement& out) noexcept
      : context_(context), condition_(condition), inverted_(inverted), out_(out) {}

  bool append() {
    if (condition_.op == Operator::kFullText) return appendFullText(context_, condition_, out_);
    if (!resolve(context_, condition_.path, operand_)) return false;
    if (condition_.op == Operator::kIs) return appendIs();
    if (!checkType()) return false;
    if (operand_.isJsonValue()) return appendMany(&Leaf::appendJsonTest);
    const bool equality = condition_.op == Operator::kEq && condition_.quantifier == Quantifier::kAny;
    if (condition_.op == Operator::kIn || equality) return appendIn();
    if (condition_.op == Operator::kLike || condition_.op == Operator::kIlike)
      return appendMany(&Leaf::appendLike);
    if (condition_.op == Operator::kMatch || condition_.op == Operator::kImatch)
      return appendMany(&Leaf::appendMatch);
    return appendMany(&Leaf::appendTest);
  }

 private:
  bool refuse(std::string_view code, std::string_view what, std::string hint = {}) {
    return context_.refuse(code, fmt::format("{}: {}", pathText(condition_.path), what), std::move(hint));
  }

  // Whether the operator means anything for what it is applied to.
  bool checkType() {
    const Column& column = *operand_.column;
    const bool pattern = condition_.op >= Operator::kLike && condition_.op <= Operator::kImatch;
    const bool regex = condition_.op == Operator::kMatch || condition_.op == Operator::kImatch;
    if (regex && !context_.fixed && !context_.exposure.config->regex)
      return refuse(
          "bad_operator", "match and imatch are switched off here",
          "like and ilike take patterns; \"regex\": \"on\" in mysql_rest takes regular expressions.");
    if (operand_.isJsonText()) return true;
    if (operand_.isJsonValue()) {
      if (pattern || condition_.op == Operator::kIsDistinct)
        return refuse("bad_operator", "this operator is for text", "\"->>\" instead of \"->\" makes text");
      return true;
    }
    if (isJson(column))
      return refuse("bad_operator", "a JSON document is compared by its places", "data->>name=eq.value");
    if (column.type == db::Type::kGeometry)
      return refuse("unsupported", "a geometry can only be compared with null");
    if (isSet(column) && isOrdering(condition_.op)) return refuse("bad_operator", "a SET has no order");
    if (pattern && !isText(column))
      return refuse("bad_operator", fmt::format("this operator is for text, not for {}", column.declared));
    return true;
  }

  bool appendIs() {
    const std::string& word = condition_.values.front();
    const Column& column = *operand_.column;
    if (word == "null" || word == "not_null") {
      appendOperand(context_, operand_, out_);
      if (word == "null") {
        out_.text << " IS NULL";
      } else {
        out_.text << " IS NOT NULL";
      }
      return true;
    }
    if (!operand_.isColumn() || !isBoolean(column))
      return refuse("bad_operator", fmt::format("is.{} is for booleans", word));
    const bool exact = inverted_ && column.nullable;
    context_.append(column, out_.text);
    if (word == "unknown") {
      out_.text << " IS NULL";
    } else if (exact && word == "true") {
      out_.text << " IS TRUE";
    } else if (exact) {
      out_.text << " IS FALSE";
    } else if (word == "true") {
      out_.text << " <> 0";  // unlike IS TRUE, this can use an index
    } else {
      out_.text << " = 0";
    }
    return true;
  }

  // The value for a column, or for text out of JSON. An ENUM's values are more or less by position.
  bool convert(const std::string& text, db::Value& value) {
    if (operand_.isColumn() && isEnum(*operand_.column) && isOrdering(condition_.op))
      return convertMember(context_, *operand_.column, text, value);
    if (operand_.isColumn())
      return convertText(*operand_.column, text, context_.timeZone(), value, context_.problem);
    value = db::Value::ofText(text);
    return true;
  }

  void appendTypedMark() {
    if (operand_.isColumn()) {
      appendMark(*operand_.column, out_.text);
    } else {
      out_.text << "?";
    }
  }

  bool appendIn() {
    if (condition_.values.empty()) {
      out_.text << "FALSE";
      return true;
    }
    appendOperand(context_, operand_, out_);
    out_.text << " IN (";
    const size_t count = padded(condition_.values.size());
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out_.text << ",";
      appendTypedMark();
      if (i >= condition_.values.size()) {
        out_.values.push_back(out_.values.back());
        continue;
      }
      db::Value value;
      if (!convert(condition_.values[i], value)) return false;
      out_.values.push_back(std::move(value));
    }
    out_.text << ")";
    return true;
  }

  // One test for each value, joined by OR (any, in) or AND (all), padded to a power of two.
  bool appendMany(bool (Leaf::*test)(const std::string&)) {
    const bool any = condition_.quantifier == Quantifier::kAny || condition_.op == Operator::kIn;
    if (condition_.values.empty()) {
      if (any) {
        out_.text << "FALSE";
      } else {
        out_.text << "TRUE";
      }
      return true;
    }
    if (condition_.values.size() == 1) return (this->*test)(condition_.values.front());
    const size_t count = padded(condition_.values.size());
    out_.text << "(";
    for (size_t i = 0; i < count; ++i) {
      if (i > 0 && any) out_.text << " OR ";
      if (i > 0 && !any) out_.text << " AND ";
      if (!(this->*test)(condition_.values[std::min(i, condition_.values.size() - 1)])) return false;
    }
    out_.text << ")";
    return true;
  }

  bool appendTest(const std::string& text) {
    db::Value value;
    if (!convert(text, value)) return false;
    if (condition_.op == Operator::kIsDistinct) out_.text << "NOT (";
    appendOperand(context_, operand_, out_);
    appendComparison(condition_.op, out_.text);
    appendTypedMark();
    if (condition_.op == Operator::kIsDistinct) out_.text << ")";
    out_.values.push_back(std::move(value));
    return true;
  }

  // like heeds case and ilike does not, whatever the collation. Where it is the collation's way already, the
  // plain comparison can use an index; it stays beside the exact one.
  bool appendLike(const std::string& text) {
    const db::Value pattern = db::Value::ofText(likePattern(text));
    const bool insensitive = condition_.op == Operator::kIlike;
    const bool of_collation = operand_.isColumn() && operand_.column->case_sensitive != insensitive;
    if (insensitive && !of_collation) {
      out_.text << "LOWER(";
      appendOperand(context_, operand_, out_);
      out_.text << ") LIKE LOWER(?)";
      out_.values.push_back(pattern);
      return true;
    }
    if (!of_collation) out_.text << "(";
    appendOperand(context_, operand_, out_);
    out_.text << " LIKE ?";
    out_.values.push_back(pattern);
    if (of_collation) return true;
    out_.text << " AND ";
    appendOperand(context_, operand_, out_);
    // MySQL before 8.0.22 takes a mark for bytes while it prepares, and bytes have no collation (error 1253).
    out_.text << " LIKE CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin)";
    out_.values.push_back(pattern);
    return true;
  }

  // Both PCRE (MariaDB) and ICU (MySQL) are told about case within the pattern.
  bool appendMatch(const std::string& text) {
    appendOperand(context_, operand_, out_);
    out_.text << " REGEXP ?";
    out_.values.push_back(db::Value::ofText((condition_.op == Operator::kImatch ? "(?i)" : "(?-i)") + text));
    return true;
  }

  // A place in JSON against a JSON value: "data->age=gt.20". Only what is of the value's kind is compared.
  bool appendJsonTest(const std::string& text) {
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    if (value.is_discarded() && isJson(std::string_view(text)))  // what no double holds
      return refuse("value_out_of_range", inQuotes(text) + " has a number that is too large");
    if (value.is_discarded())
      return refuse("bad_value", inQuotes(text) + " is no JSON",
                    "\"->>\" compares text; text in JSON has quotes");
    const bool equality = condition_.op == Operator::kEq || condition_.op == Operator::kIn;
    const bool negated = condition_.op == Operator::kNeq;
    if (!equality && !negated && !value.is_number() && !value.is_string())
      return refuse("bad_operator", "only numbers and text in JSON are more or less than others");
    if (negated) out_.text << "NOT (";
    if (!negated) out_.text << "(";
    if (value.is_number()) {
      appendJsonNumber(value);
    } else if (value.is_structured()) {
      appendJsonDocument(text);
    } else {
      appendJsonScalar(value);
    }
    out_.text << ")";
    return true;
  }

  Operator positive() const noexcept {
    return condition_.op == Operator::kNeq || condition_.op == Operator::kIn ? Operator::kEq : condition_.op;
  }

  void appendJsonNumber(const nlohmann::json& value) {
    out_.text << "JSON_TYPE(";
    appendExtract(context_, operand_, out_);
    out_.text << ") IN ('INTEGER','DOUBLE','DECIMAL','UNSIGNED INTEGER') AND ";
    appendExtract(context_, operand_, out_);
    appendComparison(positive(), out_.text);
    out_.text << "?";
    if (value.is_number_unsigned()) {
      out_.values.push_back(db::Value::ofUint(value.get<uint64_t>()));
    } else if (value.is_number_integer()) {
      out_.values.push_back(db::Value::ofInt(value.get<int64_t>()));
    } else {
      out_.values.push_back(db::Value::ofDouble(value.get<double>()));
    }
  }

  void appendJsonScalar(const nlohmann::json& value) {
    out_.text << "JSON_TYPE(";
    appendExtract(context_, operand_, out_);
    out_.text << ")";
    if (value.is_null()) {
      out_.text << " = 'NULL'";
      return;
    }
    if (value.is_string()) {
      out_.text << " = 'STRING' AND JSON_UNQUOTE(";
    } else {
      out_.text << " = 'BOOLEAN' AND JSON_UNQUOTE(";
    }
    appendExtract(context_, operand_, out_);
    out_.text << ")";
    appendComparison(positive(), out_.text);
    out_.text << "?";
    out_.values.push_back(db::Value::ofText(value.is_string()   ? value.get<std::string>()
                                            : value.get<bool>() ? "true"
                                                                : "false"));
  }

  void appendJsonDocument(const std::string& text) {
    if (context_.isMariaDb()) {  // whose JSON_EQUALS holds in a WHERE clause for NULL, too
      out_.text << "JSON_TYPE(";
      appendExtract(context_, operand_, out_);
      out_.text << ") IN ('ARRAY','OBJECT') AND JSON_EQUALS(";
      appendExtract(context_, operand_, out_);
      out_.text << ",?)";
    } else {
      appendExtract(context_, operand_, out_);
      out_.text << " = CAST(? AS JSON)";
    }
    out_.values.push_back(db::Value::ofText(text));
  }

  const SqlContext& context_;
  const Condition& condition_;
  const bool inverted_;
  db::Statement& out_;
  Operand operand_;
};

bool appendJoined(const SqlContext& context, const std::vector<Condition>& conditions, bool any,
                  bool inverted, db::Statement& out);

bool appendOne(const SqlContext& context, const Condition& condition, bool inverted, db::Statement& out) {
  inverted = inverted || condition.negated;
  const bool leaf = condition.kind == Condition::Kind::kLeaf;
  if (condition.negated) out.text << "NOT (";
  if (!condition.negated && !leaf) out.text << "(";
  if (!leaf) {
    if (!appendJoined(context, condition.parts, condition.kind == Condition::Kind::kOr, inverted, out))
      return false;
  } else if (const SelectItem* embedded = findEmbedded(context, condition); embedded != nullptr) {
    if (!appendExistence(context, *embedded, condition, out)) return false;
  } else if (!Leaf(context, condition, inverted, out).append()) {
    return false;
  }
  if (condition.negated || !leaf) out.text << ")";
  return true;
}

bool appendJoined(const SqlContext& context, const std::vector<Condition>& conditions, bool any,
                  bool inverted, db::Statement& out) {
  bool first = true;
  for (const Condition& condition : conditions) {
    if (!first && any) out.text << " OR ";
    if (!first && !any) out.text << " AND ";
    first = false;
    if (!appendOne(context, condition, inverted, out)) return false;
  }
  return true;
}

}  // namespace

bool appendConditions(const SqlContext& context, const std::vector<Condition>& conditions,
                      db::Statement& out) {
  return appendJoined(context, conditions, false, false, out);
}

}  // namespace roost::tables
