// A request's query string taken apart, in PostgREST's grammar; nothing here knows a schema yet. Everything
// that cannot be read is a Problem, never left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tables/problem.h"

namespace roost::tables {

struct RestLimits;

// A column, or a place within a JSON column: "data->a->0->>b".
struct Path {
  std::string column;
  struct Step {
    std::string key;  // a member's name or an element's index
    bool is_index = false;
  };
  std::vector<Step> steps;
  bool as_text = false;  // the last arrow was ->>
};

enum class Operator : uint8_t {
  kEq,
  kNeq,
  kGt,
  kGte,
  kLt,
  kLte,
  kLike,
  kIlike,
  kMatch,
  kImatch,
  kIn,
  kIs,
  kIsDistinct,
  kFullText,
};

enum class Quantifier : uint8_t { kNone, kAny, kAll };

struct Condition {
  enum class Kind : uint8_t { kLeaf, kAnd, kOr } kind = Kind::kLeaf;
  bool negated = false;
  // kLeaf:
  Path path;
  Operator op = Operator::kEq;
  Quantifier quantifier = Quantifier::kNone;
  std::vector<std::string>
      values;        // one; several of in and of any/all. is: "null", "true", "false", "not_null", "unknown"
  std::string mode;  // of full text: "", "plain", "phrase", "websearch"
  // kAnd, kOr:
  std::vector<Condition> parts;
};

struct OrderTerm {
  std::string relation;  // "customers(name)": the embedded table whose column it is; empty: the table's own
  Path path;
  bool descending = false;
  enum class Nulls : uint8_t { kDefault, kFirst, kLast } nulls = Nulls::kDefault;
};

struct Query;

struct SelectItem {
  bool all = false;   // "*"
  std::string alias;  // empty: the name
  Path path;
  std::string cast;  // "::text"; empty: none
  // An embedded table: alias:path.column!hint!inner(select...)
  std::unique_ptr<Query> embedded;  // nullptr: a column
  std::string hint;                 // the foreign key's name or column
  bool inner = false;
};

struct Query {
  std::vector<SelectItem> select;  // empty: "*"
  bool select_nothing = false;     // "customers!inner()": it only filters
  std::vector<Condition> where;    // all of them hold
  std::vector<OrderTerm> order;
  std::optional<uint64_t> limit;
  std::optional<uint64_t> offset;
  bool distinct = false;
  // Keyset: the values of order's columns in the last row seen. nullopt: an unquoted null.
  std::vector<std::optional<std::string>> after;
  std::vector<std::string> columns;  // of a write
  std::vector<std::string> on_conflict;

  Query();
  ~Query();
  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;
};

// Whether a parameter of that name is something else than a condition on a column; a column of that name
// stands in quotes.
bool isQueryWord(std::string_view name) noexcept;

// `query` as it stands behind '?', percent-encoded. Conditions, order, limit and offset of an embedded table
// ("customers.city=eq.Bonn") end in its own Query. False: `problem` says what is wrong and where.
bool parseQuery(std::string_view query, const RestLimits& limits, Query& out, Problem& problem);
// A table's fixed `where`, a query that says nothing but which rows.
bool parseFixed(std::string_view where, const RestLimits& limits, Query& out, Problem& problem);

}  // namespace roost::tables
