#pragma once

#include <string>

namespace roost::tables {

// Why a request is not done, as its client is told (RFC 9457). Names no SQL.
struct Problem {
  int status = 400;
  std::string code;      // for programs: "unknown_column"; listed in docs/mysql.md
  std::string detail;    // for people, about this request: "orders has no column \"pirce\""
  std::string hint;      // what to do; may be empty
  std::string sqlstate;  // where the database refused; else empty
};

}  // namespace roost::tables
