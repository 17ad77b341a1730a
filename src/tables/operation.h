#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/error.h"
#include "db/pool.h"
#include "db/row.h"
#include "db/value.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::tables {

// What a request is answered with once all of its statements are done.
struct OperationResult {
  int status = 200;
  std::string body;
  bool has_body = false;                     // `body` is an answer's content, be it empty
  std::string location;                      // of the one row that was made
  std::string content_range;                 // "0-4/*"
  uint64_t rows = 0;                         // read or written
  std::vector<std::vector<db::Value>> keys;  // of the rows that were written (WriteOptions::collect_keys)
  std::string announcement;  // for the table's channel: its rows as they are now, or the keys of those that
                             // are gone, as a JSON array; empty: none is told, or there are too many
};

// One read or write as a sequence of statements. Whoever has a connection asks for one after the other, and
// tells what became of each; within a transaction where it needs one. No threads, no connection of its own.
class Operation {
 public:
  virtual ~Operation() = default;

  virtual const ExposedTable& table() const noexcept = 0;
  virtual bool isWrite() const noexcept = 0;
  // Of more than one statement, or it may have to take back what it has done.
  virtual bool needsTransaction() const noexcept = 0;

  // What it would look at before the transaction begins, without locking anything; false: there is nothing
  // (more). A hint: whoever does not ask, or asks too early, only makes it take more statements. Its results
  // are told as those of next() are.
  virtual bool look(db::Statement&) { return false; }
  // The next statement; false: there is none, because all is done or because it has failed.
  virtual bool next(db::Statement& out) = 0;
  virtual void onColumns(const db::ResultColumns& columns) = 0;
  virtual void onRow(const db::Row& row) = 0;
  virtual void onResult(const db::Outcome& outcome) = 0;
  // Of the answer's content, as far as it has come.
  virtual size_t bytes() const noexcept = 0;
  // False: that is the operation's end.
  virtual bool onError(const db::Error& error) = 0;
  // Asked once after onError() was true: all that it has done in the transaction is to take locks, in which
  // it and others would wait for each other, and so its next statement is better a new one's first. A hint,
  // too: who has done more in the transaction cannot heed it.
  virtual bool beginsAgain() noexcept { return false; }

  // After next() was false: what it came to. What it did within the transaction must be rolled back where it
  // has failed.
  virtual bool failed() const noexcept = 0;
  virtual const Problem& problem() const noexcept = 0;
  virtual OperationResult& result() noexcept = 0;
};

}  // namespace roost::tables
