// What comes back, and in which order: "id,total:amount::text,customers!inner(name)",
// "amount.desc.nullslast".
#include <algorithm>
#include <utility>

#include "tables/query_parser.h"

namespace roost::tables {
namespace {

bool isIndex(std::string_view word) noexcept {
  if (!word.empty() && word.front() == '-') word.remove_prefix(1);
  return !word.empty() && word.size() <= 9 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "!hint", "!inner", "!left", in any order.
bool parseEmbedWords(Scanner& in, SelectItem& out) {
  while (in.take('!')) {
    const size_t at = in.position();
    std::string word;
    bool was_quoted = false;
    if (!in.name(word, &was_quoted)) return false;
    if (!was_quoted && word == "inner") {
      out.inner = true;
    } else if (was_quoted || word != "left") {
      if (!out.hint.empty()) return in.refuse(at, "bad_query", "a second hint");
      out.hint = std::move(word);
    }
  }
  return true;
}

bool parseItems(Scanner& in, ParseBudget& budget, bool embedded, Query& out);

bool parseEmbed(Scanner& in, ParseBudget& budget, bool embedded, SelectItem& out) {
  const size_t at = in.position();
  if (!parseEmbedWords(in, out)) return false;
  if (!in.take('(')) return in.expected("'(' and the columns of what is embedded");
  if (embedded) return in.refuse(at, "unsupported", "a table embedded in an embedded one");
  out.embedded = std::make_unique<Query>();
  in.skipSpaces();
  if (in.take(')')) {
    out.embedded->select_nothing = true;
    return true;
  }
  if (!parseItems(in, budget, true, *out.embedded)) return false;
  return in.take(')') || in.expected("',' or ')'");
}

// Behind a column's name: "->a", "::text".
bool parseColumnRest(Scanner& in, SelectItem& out) {
  if (!parseSteps(in, out.path)) return false;
  if (in.peek() == '.')
    return in.refuse(in.position(), "unsupported", "functions of columns (aggregates) are not offered");
  if (!in.take("::")) return true;
  in.skipSpaces();
  return in.name(out.cast);
}

bool parseItem(Scanner& in, ParseBudget& budget, bool embedded, SelectItem& out) {
  in.skipSpaces();
  const size_t at = in.position();
  if (++budget.selected > budget.limits.max_select)
    return in.refuse(at, "too_complex",
                     "more than " + std::to_string(budget.limits.max_select) + " columns selected");
  if (in.take('*')) {
    out.all = true;
    return true;
  }
  if (in.sees("..")) return in.refuse(at, "unsupported", "spreading (\"...table(columns)\") is not offered");
  if (!in.name(out.path.column)) return false;
  if (in.peek() == ':' && !in.sees("::")) {
    in.take(':');
    out.alias = std::move(out.path.column);
    if (!in.name(out.path.column)) return false;
  }
  if (in.peek() == '!' || in.peek() == '(') {
    if (out.path.column == "count" && in.sees("()"))
      return in.refuse(at, "unsupported", "functions of columns (aggregates) are not offered");
    return parseEmbed(in, budget, embedded, out);
  }
  return parseColumnRest(in, out);
}

bool parseItems(Scanner& in, ParseBudget& budget, bool embedded, Query& out) {
  do {
    out.select.emplace_back();
    if (!parseItem(in, budget, embedded, out.select.back())) return false;
    in.skipSpaces();
  } while (in.take(','));
  return true;
}

bool parseDirection(Scanner& in, OrderTerm& out) {
  bool directed = false;
  bool nulls = false;
  while (in.take('.')) {
    const size_t at = in.position();
    const std::string_view word = in.takeUntil(".,) ");
    if (!directed && !nulls && (word == "asc" || word == "desc")) {
      directed = true;
      out.descending = word == "desc";
    } else if (!nulls && (word == "nullsfirst" || word == "nullslast")) {
      nulls = true;
      out.nulls = word == "nullsfirst" ? OrderTerm::Nulls::kFirst : OrderTerm::Nulls::kLast;
    } else {
      return in.refuse(at, "bad_query",
                       inQuotes(word) + " in an order: asc or desc, then nullsfirst or nullslast");
    }
  }
  return true;
}

bool parseOrderTerm(Scanner& in, OrderTerm& out) {
  if (!parsePath(in, out.path)) return false;
  if (out.path.steps.empty() && in.take('(')) {
    out.relation = std::move(out.path.column);
    if (!parsePath(in, out.path)) return false;
    in.skipSpaces();
    if (!in.take(')')) return in.expected("')'");
  }
  return parseDirection(in, out);
}

}  // namespace

bool parseSteps(Scanner& in, Path& out) {
  while (in.take("->")) {
    const size_t at = in.position();
    if (out.as_text) return in.refuse(at - 2, "bad_query", "an arrow behind \"->>\", which makes text");
    out.as_text = in.take('>');
    if (out.steps.size() == kMaxPathSteps)
      return in.refuse(at, "too_complex", "more than " + std::to_string(kMaxPathSteps) + " arrows");
    Path::Step step;
    bool was_quoted = false;
    if (!in.name(step.key, &was_quoted)) return false;
    step.is_index = !was_quoted && isIndex(step.key);
    out.steps.push_back(std::move(step));
  }
  return true;
}

bool parsePath(Scanner& in, Path& out) {
  return in.name(out.column) && parseSteps(in, out);
}

bool parseSelect(Scanner& in, ParseBudget& budget, Query& out) {
  const std::string_view text = in.rest();
  const size_t items = static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1;
  out.select.reserve(std::min<size_t>(items, budget.limits.max_select));
  return parseItems(in, budget, false, out) && (in.atEnd() || in.expected("',' or the end"));
}

bool parseOrder(Scanner& in, Query& out) {
  do {
    if (out.order.size() == kMaxOrderTerms)
      return in.refuse(in.position(), "too_complex",
                       "an order of more than " + std::to_string(kMaxOrderTerms) + " terms");
    out.order.emplace_back();
    if (!parseOrderTerm(in, out.order.back())) return false;
    in.skipSpaces();
  } while (in.take(','));
  return in.atEnd() || in.expected("',' or the end");
}

}  // namespace roost::tables
