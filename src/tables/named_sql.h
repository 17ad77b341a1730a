// Statements with named parameters, as somebody writes them into a configuration: "... WHERE id = :id".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/sql_text.h"

namespace roost::tables {

struct NamedSql {
  db::SqlText text;                 // with a mark in each name's place
  std::vector<uint16_t> arguments;  // which name stands at each mark, a position in `names`
  std::string first_word;           // in capitals: "SELECT"
  // What stands outside of quotes and comments: words in capitals, each other character by itself; a
  // quoted text is its first quote.
  std::vector<std::string> tokens;
};

// Takes one statement apart. Names in literals, quoted identifiers and comments are none, and neither are
// `::` and `:=`. A ';' may stand at the very end only, and is left out. Errors, with their place: a name that
// is not among `names`, a '?' (whose value nobody could tell), a second statement, a literal or comment
// without an end, nothing at all.
Result<NamedSql> readNamedSql(std::string_view sql, const std::vector<std::string>& names);

}  // namespace roost::tables
