// What the log is told of statements that fail by no fault of a client's. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "db/error.h"
#include "tables/problem.h"

namespace roost::tables {
struct ExposedTable;
}

namespace roost::modules::mysql {

// Whether `problem`, which was made of `error`, is for who runs the server or the database to mend: a missing
// right, a statement that names what is not there, a database that takes no writes.
bool isForOperator(const db::Error& error, const tables::Problem& problem) noexcept;

// One line. `where`: "mysql_query /top/{country}"; `statement`: its text, which has marks for its values. The
// server's own message stands in it only where such a message quotes no values.
std::string reportText(std::string_view where, const db::Error& error, const tables::Problem& problem,
                       std::string_view statement);

// Lets a line pass for each key once in kPauseNs, whichever thread it comes from. Keys that share a place,
// which is rare, share its pause.
class ReportGate {
 public:
  static constexpr int64_t kPauseNs = 10'000'000'000;

  // True: tell it; `held_back` is how many have not been told since the last one that was.
  bool admit(size_t key, int64_t now_ns, uint32_t& held_back) noexcept;

 private:
  struct Place {
    std::atomic<int64_t> closed_until_ns{0};
    std::atomic<uint32_t> held_back{0};
  };
  std::array<Place, 256> places_;
};

// Tell the log, where it is for the operator, and not too often of one table or route and one number.
// `table`: nullptr where the statement is of none.
void reportRestError(const tables::ExposedTable* table, const db::Error& error,
                     const tables::Problem& problem, std::string_view statement);
void reportQueryError(std::string_view path, const db::Error& error, const tables::Problem& problem,
                      std::string_view statement);

}  // namespace roost::modules::mysql
