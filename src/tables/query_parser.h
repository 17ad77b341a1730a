// The parts of parseQuery. Within tables/ only.
#pragma once

#include <cstdint>
#include <string>

#include "tables/exposure.h"
#include "tables/query.h"
#include "tables/scanner.h"

namespace roost::tables {

// What one request has used of its limits.
struct ParseBudget {
  const RestLimits& limits;
  uint32_t filters = 0;
  size_t values = 0;  // of all its lists
  uint32_t selected = 0;
};

constexpr size_t kMaxValues = 8192;  // padded and with three marks each they stay below a statement's 65,535
constexpr uint32_t kMaxOrderTerms = 16;
constexpr uint32_t kMaxPathSteps = 32;
constexpr uint32_t kMaxEmbeds = 16;

// "->a->0->>b" behind a column's name; nothing where there is none.
bool parseSteps(Scanner& in, Path& out);
// "a->b": a column, or a place within it.
bool parsePath(Scanner& in, Path& out);

// A filter's value, "not.eq.5". `nested`: within and(...), where a comma or parenthesis ends it.
bool parseOperation(Scanner& in, ParseBudget& budget, bool nested, Condition& out);
// "(a.eq.1,or(b.gt.2,c.is.null))", at nesting `depth`.
bool parseLogic(Scanner& in, ParseBudget& budget, uint32_t depth, Condition& out);

// The whole value of select, order.
bool parseSelect(Scanner& in, ParseBudget& budget, Query& out);
bool parseOrder(Scanner& in, Query& out);

}  // namespace roost::tables
