#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/client.h"
#include "db/row.h"
#include "db/value.h"

namespace roost::db {

enum class Fetched : uint8_t { kRow, kEnd, kFailed };

// A prepared statement of one connection: parameters in, rows out as the server sent them. Its calls wait,
// but for those that say that they only look at what the library holds: these are for who drives handle() by
// the non-blocking interface. The connection outlives it; one thread at a time.
class Prepared {
 public:
  explicit Prepared(MYSQL* mysql);
  ~Prepared();  // may tell the server; see release()
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  bool prepare(std::string_view text);             // false: error()
  bool execute(const std::vector<Value>& values);  // the same
  Fetched fetch();                                 // the same, of kFailed
  // Reads what else a statement with several results has, to nobody. False: error(). Such a statement is not
  // to be executed again.
  bool skipMoreResults();

  // Without waiting, from here on.
  MYSQL_STMT* handle() const noexcept { return statement_; }
  MYSQL_STMT* release() noexcept;               // to be closed by the caller
  bool prepared();                              // it has been: looks at its columns
  bool bind(const std::vector<Value>& values);  // before executing; false: error()
  bool executed();                              // it has been: looks at its columns, which may be others now
  Fetched fetched(int code) noexcept;           // what a fetch that returned `code` has brought
  bool hasRows() const noexcept { return !columns_.empty(); }
  // Others follow, as of a procedure that selects. Known at the result's end.
  bool moreResults() const noexcept { return more_results_; }
  // The next result has come, which nobody reads: columns() and row() stay those of the first. Whether it has
  // rows to be fetched.
  bool skipping() noexcept;
  const ResultColumns& columns() const noexcept { return columns_; }
  Row row() const noexcept { return {cells_.data(), cells_.size()}; }
  uint64_t affectedRows() const noexcept;  // 0 of one with rows
  uint64_t insertId() const noexcept;
  uint32_t warnings() const noexcept { return warnings_; }
  bool inTransaction() const noexcept { return in_transaction_; }
  bool sessionChanged() const noexcept { return session_changed_; }  // see Outcome
  Error error() const;                                               // why a call has failed

 private:
  struct Buffers;  // of Oracle's library, which copies
  void describe(const MYSQL_FIELD* fields, size_t count);
  bool sameColumns(const MYSQL_FIELD* fields, size_t count) const noexcept;
  void noteStatus(uint32_t status, uint32_t warnings) noexcept;
  static void onCell(void* self, unsigned int column, unsigned char** bytes) noexcept;
  bool bindBuffers();
  bool takeBuffers();

  MYSQL* mysql_;
  MYSQL_STMT* statement_;
  ResultColumns columns_;
  std::vector<MYSQL_FIELD> shapes_;  // what columns_ was made of; their pointers are not to be followed
  std::vector<int8_t> widths_;       // of a column's values in bytes; kCounted: the value says it
  std::vector<Cell> cells_;
  std::vector<MYSQL_BIND> binds_;
  std::unique_ptr<Buffers> buffers_;
  uint32_t warnings_ = 0;
  uint32_t own_error_ = 0;  // of ours, where the library has none
  bool in_transaction_ = false;
  bool session_changed_ = false;
  bool more_results_ = false;
  bool skipping_ = false;
};

// About how long a command it takes to execute it, and the error where the server would not bear it.
size_t executeBytes(const Statement& statement) noexcept;
Error tooLarge();
// Whether the error of executing means that nothing was done, or nothing but reading, and that preparing the
// text once more helps.
bool needsPreparing(uint32_t number, std::string_view text) noexcept;
// CR_NEW_STMT_METADATA: the table was altered, and rows are coming that nobody can read.
constexpr uint32_t kNewMetadata = 2057;

}  // namespace roost::db
