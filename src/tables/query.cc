#include "tables/query.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/form_text.h"
#include "base/utf8.h"
#include "tables/query_parser.h"

namespace roost::tables {
namespace {

// One "name=value", decoded.
struct Parameter {
  std::string name;
  std::string value;
};

// What a parameter's name says.
struct Target {
  enum class Kind : uint8_t {
    kFilter,
    kAnd,
    kOr,
    kSelect,
    kOrder,
    kLimit,
    kOffset,
    kColumns,
    kOnConflict,
    kDistinct,
    kAfter,
  } kind = Kind::kFilter;
  std::vector<std::string> embed;  // "customers." before it
  bool negated = false;            // "not." before and, or
  Path path;                       // of a filter
};

struct Word {
  std::string_view word;
  Target::Kind kind;
  bool embeddable;
};

constexpr Word kWords[] = {
    {"and", Target::Kind::kAnd, true},
    {"or", Target::Kind::kOr, true},
    {"order", Target::Kind::kOrder, true},
    {"limit", Target::Kind::kLimit, true},
    {"offset", Target::Kind::kOffset, true},
    {"select", Target::Kind::kSelect, false},
    {"columns", Target::Kind::kColumns, false},
    {"on_conflict", Target::Kind::kOnConflict, false},
    {"distinct", Target::Kind::kDistinct, false},
    {"after", Target::Kind::kAfter, false},
};

}  // namespace

bool isQueryWord(std::string_view name) noexcept {
  return name == "not" || std::any_of(std::begin(kWords), std::end(kWords),
                                      [name](const Word& word) { return word.word == name; });
}

namespace {

bool refuse(Problem& problem, std::string_view code, std::string detail) {
  problem = Problem{};
  problem.code = code;
  problem.detail = std::move(detail);
  return false;
}

bool decode(std::string_view sent, std::string& out, Problem& problem) {
  out.clear();
  if (!appendFormDecoded(sent, out))
    return refuse(problem, "bad_encoding", "in the query, '%' without two hexadecimal digits behind it");
  if (isUtf8(out)) return true;
  return refuse(problem, "bad_encoding", "the query is no UTF-8");
}

bool split(std::string_view query, std::vector<Parameter>& out, Problem& problem) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    out.emplace_back();
    if (!decode(pair.substr(0, equals), out.back().name, problem)) return false;
    if (equals < pair.size() && !decode(pair.substr(equals + 1), out.back().value, problem)) return false;
  }
  return true;
}

// "customers.not.or", "customers.data->>city", "limit".
bool parseName(std::string_view text, Target& out, Problem& problem) {
  Scanner in(text, text, problem);
  bool was_quoted = false;
  std::vector<std::string> names;
  do {
    names.emplace_back();
    if (!in.name(names.back(), &was_quoted)) return false;
  } while (in.take('.'));
  Path path;
  if (!parseSteps(in, path)) return false;
  if (!in.atEnd()) return in.expected("'=' and a filter");
  path.column = std::move(names.back());
  names.pop_back();
  for (const Word& word : kWords) {
    if (was_quoted || !path.steps.empty() || path.column != word.word) continue;
    if (!names.empty() && !word.embeddable) continue;
    out.kind = word.kind;
  }
  if ((out.kind == Target::Kind::kAnd || out.kind == Target::Kind::kOr) && !names.empty() &&
      names.back() == "not") {
    out.negated = true;
    names.pop_back();
  }
  out.path = std::move(path);
  out.embed = std::move(names);
  return true;
}

// Whose conditions, order and limits are meant.
Query* findTarget(const std::vector<std::string>& embed, std::string_view parameter, Query& root,
                  Problem& problem) {
  if (embed.empty()) return &root;
  if (embed.size() == 1) {
    for (SelectItem& item : root.select) {
      if (item.embedded != nullptr && (item.alias.empty() ? item.path.column : item.alias) == embed.front())
        return item.embedded.get();
    }
  }
  refuse(
      problem, "unknown_embedding",
      std::string(parameter) + ": " + inQuotes(embed.front()) + " is not embedded by this request's select");
  return nullptr;
}

bool parseNumber(const Parameter& parameter, std::optional<uint64_t>& out, Problem& problem) {
  uint64_t number = 0;
  const char* end = parameter.value.data() + parameter.value.size();
  const auto [stop, error] = std::from_chars(parameter.value.data(), end, number);
  if (error != std::errc{} || stop != end || number > INT64_MAX)
    return refuse(problem, "bad_value",
                  parameter.name + ": " + inQuotes(parameter.value) + " is no number of rows");
  out = number;
  return true;
}

bool parseNames(Scanner& in, const RestLimits& limits, std::vector<std::string>& out) {
  do {
    if (out.size() == limits.max_select)
      return in.refuse(in.position(), "too_complex",
                       "more than " + std::to_string(limits.max_select) + " columns named");
    out.emplace_back();
    if (!in.name(out.back())) return false;
    in.skipSpaces();
  } while (in.take(','));
  return in.atEnd() || in.expected("',' or the end");
}

// "2026-11-20,17": the values of order's columns, quoted where they have commas.
bool parseAfter(Scanner& in, Query& out) {
  do {
    if (out.after.size() == 2 * kMaxOrderTerms)
      return in.refuse(in.position(), "too_complex", "more values than an order has columns");
    if (in.peek() == '"') {
      out.after.emplace_back(std::string());
      if (!in.quotedText(*out.after.back())) return false;
      if (!in.atEnd() && in.peek() != ',') return in.expected("','");
      continue;
    }
    const std::string_view value = in.takeUntil(",");
    if (value == "null") {
      out.after.emplace_back();
    } else {
      out.after.emplace_back(std::string(value));
    }
  } while (in.take(','));
  return true;
}

bool parseDistinct(const Parameter& parameter, Query& out, Problem& problem) {
  out.distinct = parameter.value.empty() || parameter.value == "true";
  if (out.distinct || parameter.value == "false") return true;
  return refuse(problem, "bad_value",
                "distinct: " + inQuotes(parameter.value) + " is neither true nor false");
}

bool parseFilter(Scanner& in, ParseBudget& budget, Target& target, Query& out) {
  Condition condition;
  if (target.kind == Target::Kind::kFilter) {
    condition.path = std::move(target.path);
    if (!parseOperation(in, budget, false, condition)) return false;
  } else {
    condition.kind = target.kind == Target::Kind::kAnd ? Condition::Kind::kAnd : Condition::Kind::kOr;
    condition.negated = target.negated;
    if (!parseLogic(in, budget, 1, condition)) return false;
    if (!in.atEnd()) return in.expected("the end");
  }
  out.where.push_back(std::move(condition));
  return true;
}

bool isRepeated(const Target& target, const Query& out) noexcept {
  switch (target.kind) {
    case Target::Kind::kSelect:
      return !out.select.empty();
    case Target::Kind::kOrder:
      return !out.order.empty();
    case Target::Kind::kLimit:
      return out.limit.has_value();
    case Target::Kind::kOffset:
      return out.offset.has_value();
    case Target::Kind::kColumns:
      return !out.columns.empty();
    case Target::Kind::kOnConflict:
      return !out.on_conflict.empty();
    case Target::Kind::kAfter:
      return !out.after.empty();
    default:
      return false;
  }
}

bool parseParameter(const Parameter& parameter, ParseBudget& budget, Target& target, Query& out,
                    Problem& problem) {
  if (isRepeated(target, out)) return refuse(problem, "bad_query", parameter.name + " stands there twice");
  Scanner in(parameter.name, parameter.value, problem);
  switch (target.kind) {
    case Target::Kind::kSelect:
      return parseSelect(in, budget, out);
    case Target::Kind::kOrder:
      return parseOrder(in, out);
    case Target::Kind::kLimit:
      return parseNumber(parameter, out.limit, problem);
    case Target::Kind::kOffset:
      return parseNumber(parameter, out.offset, problem);
    case Target::Kind::kColumns:
      return parseNames(in, budget.limits, out.columns);
    case Target::Kind::kOnConflict:
      return parseNames(in, budget.limits, out.on_conflict);
    case Target::Kind::kDistinct:
      return parseDistinct(parameter, out, problem);
    case Target::Kind::kAfter:
      return parseAfter(in, out);
    default:
      return parseFilter(in, budget, target, out);
  }
}

}  // namespace

Query::Query() = default;
Query::~Query() = default;
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;

bool parseQuery(std::string_view query, const RestLimits& limits, Query& out, Problem& problem) {
  out = Query();
  std::vector<Parameter> parameters;
  if (!split(query, parameters, problem)) return false;
  std::vector<Target> targets(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parseName(parameters[i].name, targets[i], problem)) return false;
  }
  ParseBudget budget{limits};
  // select first: the others may speak of what it embeds.
  for (const bool selecting : {true, false}) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      if ((targets[i].kind == Target::Kind::kSelect) != selecting) continue;
      Query* target = findTarget(targets[i].embed, parameters[i].name, out, problem);
      if (target == nullptr || !parseParameter(parameters[i], budget, targets[i], *target, problem))
        return false;
    }
  }
  return true;
}

bool parseFixed(std::string_view where, const RestLimits& limits, Query& out, Problem& problem) {
  if (!parseQuery(where, limits, out, problem)) return false;
  const bool says_more = !out.select.empty() || !out.order.empty() || out.limit.has_value() ||
                         out.offset.has_value() || out.distinct || !out.after.empty() ||
                         !out.columns.empty() || !out.on_conflict.empty();
  return !says_more || refuse(problem, "bad_query", "only conditions may stand here");
}

}  // namespace roost::tables
