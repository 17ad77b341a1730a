// Filters: "eq.5", "not.in.(1,2)", "like(any).{a*,b*}", "or(a.eq.1,b.is.null)".
#include <algorithm>
#include <array>
#include <utility>

#include "tables/query_parser.h"

namespace roost::tables {
namespace {

struct OperatorWord {
  std::string_view word;
  Operator op;
  std::string_view mode;  // of full text
  bool quantified;        // may stand with (any), (all)
};

constexpr std::array<OperatorWord, 17> kOperators = {{
    {"eq", Operator::kEq, "", true},
    {"neq", Operator::kNeq, "", true},
    {"gt", Operator::kGt, "", true},
    {"gte", Operator::kGte, "", true},
    {"lt", Operator::kLt, "", true},
    {"lte", Operator::kLte, "", true},
    {"like", Operator::kLike, "", true},
    {"ilike", Operator::kIlike, "", true},
    {"match", Operator::kMatch, "", true},
    {"imatch", Operator::kImatch, "", true},
    {"in", Operator::kIn, "", false},
    {"is", Operator::kIs, "", false},
    {"isdistinct", Operator::kIsDistinct, "", false},
    {"fts", Operator::kFullText, "", false},
    {"plfts", Operator::kFullText, "plain", false},
    {"phfts", Operator::kFullText, "phrase", false},
    {"wfts", Operator::kFullText, "websearch", false},
}};

// What PostgREST has for types that there are not here.
constexpr std::array<std::string_view, 8> kForeignOperators = {"cs", "cd",  "ov",  "sl",
                                                               "sr", "nxr", "nxl", "adj"};

const OperatorWord* findOperator(std::string_view word) noexcept {
  for (const OperatorWord& candidate : kOperators)
    if (candidate.word == word) return &candidate;
  return nullptr;
}

bool refuseOperator(Scanner& in, size_t at, std::string_view word) {
  for (const std::string_view foreign : kForeignOperators) {
    if (word == foreign)
      return in.refuse(at, "unsupported", "the operator " + inQuotes(word) + " means nothing to MySQL");
  }
  return in.refuse(at, "bad_operator",
                   inQuotes(word) +
                       " is no operator: eq, neq, gt, gte, lt, lte, like, ilike, match, imatch, in, is, "
                       "isdistinct, fts, plfts, phfts or wfts, behind \"not.\" where negated");
}

// "(any)", "(all)" behind an operator, "(english)" behind one of full text.
bool parseModifier(Scanner& in, const OperatorWord& word, Condition& out) {
  const size_t at = in.position();
  if (!in.take('(')) return true;
  const std::string_view modifier = in.takeUntil(")");
  if (!in.take(')')) return in.expected("')'");
  if (word.op == Operator::kFullText)
    return in.refuse(at, "unsupported", "a full-text search takes no language, the index has its own rules");
  if (word.quantified && modifier == "any") {
    out.quantifier = Quantifier::kAny;
  } else if (word.quantified && modifier == "all") {
    out.quantifier = Quantifier::kAll;
  } else {
    return in.refuse(at, "bad_operator", inQuotes(word.word) + " cannot stand with " + inQuotes(modifier));
  }
  return true;
}

bool addValue(Scanner& in, size_t at, ParseBudget& budget, std::string value, Condition& out) {
  const size_t most = std::max<size_t>(kMaxValues, budget.limits.max_list);
  if (++budget.values > most)
    return in.refuse(at, "too_complex",
                     "more than " + std::to_string(most) + " values in all lists of one request");
  if (out.values.size() == budget.limits.max_list)
    return in.refuse(at, "too_complex",
                     "more than " + std::to_string(budget.limits.max_list) + " values in one list");
  out.values.push_back(std::move(value));
  return true;
}

// One element of a list: quoted, or up to a comma or `close`.
bool parseElement(Scanner& in, char close, std::string& out) {
  const char stops[] = {',', close, '\0'};
  const size_t at = in.position();
  if (in.peek() == '"') {
    if (!in.quotedText(out)) return false;
    if (in.atEnd() || in.peek() == ',' || in.peek() == close) return true;
    in.rewind(at);  // a quote like any other character
  }
  out = in.takeUntil(stops);
  return true;
}

// "(a,b)" of in. "()" has no values, '("")' has one.
bool parseList(Scanner& in, ParseBudget& budget, Condition& out) {
  in.skipSpaces();
  if (!in.take('(')) return in.expected("'(' before the list");
  if (in.take(')')) return true;
  do {
    const size_t at = in.position();
    std::string value;
    if (!parseElement(in, ')', value) || !addValue(in, at, budget, std::move(value), out)) return false;
  } while (in.take(','));
  return in.take(')') || in.expected("',' or ')'");
}

// "{a,b}" of any and all.
bool parseBraces(Scanner& in, ParseBudget& budget, Condition& out) {
  if (!in.take('{')) return in.expected("'{' before the list");
  if (in.take('}')) return true;
  do {
    in.skipSpaces();
    const size_t at = in.position();
    const bool bare = in.peek() != '"';
    std::string value;
    if (!parseElement(in, '}', value)) return false;
    if (bare) {
      value.erase(value.find_last_not_of(" \t") + 1);
      if (value.empty() || value.find_first_of("{\"\\") != std::string::npos)
        return in.refuse(at, "bad_query",
                         "an element that is empty, or has '{', '\"' or '\\', stands in quotes");
      if (value == "NULL" || value == "null")
        return in.refuse(at, "unsupported", "NULL among the values of a list");
    }
    if (!addValue(in, at, budget, std::move(value), out)) return false;
    in.skipSpaces();
  } while (in.take(','));
  return in.take('}') || in.expected("',' or '}'");
}

bool parseIs(Scanner& in, bool nested, Condition& out) {
  static constexpr std::array<std::string_view, 5> kWords = {"null", "not_null", "true", "false", "unknown"};
  const size_t at = in.position();
  std::string word(nested ? in.takeUntil(",)") : in.takeUntil(""));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (std::find(kWords.begin(), kWords.end(), word) == kWords.end())
    return in.refuse(at, "bad_value", inQuotes(word) + " behind is: null, not_null, true, false or unknown");
  out.values.push_back(std::move(word));
  return true;
}

// The one value of an operator. Nested it may be quoted, and braces keep their commas.
bool parseSingle(Scanner& in, bool nested, Condition& out) {
  std::string value;
  if (!nested) {
    value = in.takeUntil("");
  } else if (in.peek() == '{') {
    const size_t at = in.position();
    value = in.takeUntil("}");
    if (in.take('}') && (in.peek() == ',' || in.peek() == ')')) {
      value += '}';
    } else {
      in.rewind(at);
      value = in.takeUntil(",)");
    }
  } else if (!parseElement(in, ')', value)) {
    return false;
  }
  out.values.push_back(std::move(value));
  return true;
}

bool parseValues(Scanner& in, ParseBudget& budget, bool nested, Condition& out) {
  if (out.op == Operator::kIs) return parseIs(in, nested, out);
  if (out.op == Operator::kIn) return parseList(in, budget, out);
  if (out.quantifier != Quantifier::kNone) return parseBraces(in, budget, out);
  return parseSingle(in, nested, out);
}

// "and(...)", "not.or(...)": whether one begins here, which is then taken up to the parenthesis.
bool takeLogicWord(Scanner& in, Condition& out) {
  const size_t at = in.position();
  const bool negated = in.take("not.");
  const bool conjunction = in.take("and");
  if (conjunction || in.take("or")) {
    in.skipSpaces();
    if (in.peek() == '(') {
      out.kind = conjunction ? Condition::Kind::kAnd : Condition::Kind::kOr;
      out.negated = negated;
      return true;
    }
  }
  in.rewind(at);
  return false;
}

bool parseMember(Scanner& in, ParseBudget& budget, uint32_t depth, Condition& out) {
  in.skipSpaces();
  if (takeLogicWord(in, out)) return parseLogic(in, budget, depth + 1, out);
  if (!parsePath(in, out.path)) return false;
  if (!in.take('.')) return in.expected("'.' and an operator");
  return parseOperation(in, budget, true, out);
}

}  // namespace

bool parseOperation(Scanner& in, ParseBudget& budget, bool nested, Condition& out) {
  const size_t begin = in.position();
  if (++budget.filters > budget.limits.max_filters)
    return in.refuse(begin, "too_complex",
                     "more than " + std::to_string(budget.limits.max_filters) + " conditions in one request");
  out.negated = in.take("not.");
  const size_t at = in.position();
  const std::string_view word = in.takeUntil(nested ? ".(,)" : ".(");
  const OperatorWord* found = findOperator(word);
  if (found == nullptr) return refuseOperator(in, at, word);
  out.op = found->op;
  out.mode = found->mode;
  if (!parseModifier(in, *found, out)) return false;
  if (!in.take('.')) return in.expected("'.' and a value");
  if (!parseValues(in, budget, nested, out)) return false;
  if (nested) return true;
  in.skipSpaces();
  return in.atEnd() || in.expected("the end");
}

bool parseLogic(Scanner& in, ParseBudget& budget, uint32_t depth, Condition& out) {
  if (depth > budget.limits.max_depth)
    return in.refuse(in.position(), "too_complex",
                     "and() and or() nested deeper than " + std::to_string(budget.limits.max_depth));
  in.skipSpaces();
  if (!in.take('(')) return in.expected("'('");
  do {
    out.parts.emplace_back();
    if (!parseMember(in, budget, depth, out.parts.back())) return false;
    in.skipSpaces();
  } while (in.take(','));
  if (!in.take(')')) return in.expected("',' or ')'");
  in.skipSpaces();
  return true;
}

}  // namespace roost::tables
