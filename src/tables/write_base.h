// What the kinds of writes have in common. Internal to tables: see write.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tables/fixed_rows.h"
#include "tables/key_values.h"
#include "tables/operation.h"
#include "tables/write.h"

namespace roost::tables {

// INSERT and DELETE of this server can answer with the rows (RETURNING; MariaDB from 10.5 on).
bool hasReturning(const Catalog& catalog) noexcept;

// Rows that a table's channel is told; of more, their number alone.
constexpr size_t kMostAnnounced = 100;

Problem refused(int status, const char* code, std::string detail, std::string hint = {});
Problem tooManyToReturn(uint64_t most);
// A row has a unique key in common with another one.
bool isDuplicate(const db::Error& error) noexcept;

// The rows of an answer, written as they come.
class Representation {
 public:
  // `columns` outlives it; the last `hidden` ones are not shown.
  Representation(const std::vector<OutputColumn>& columns, const OutputOptions& options, Format format,
                 bool single);

  void add(const db::ResultColumns& columns, const db::Row& row);
  uint64_t rows() const noexcept { return rows_; }
  size_t bytes() const noexcept { return text_.size(); }
  // What has come since that many rows and bytes is forgotten.
  void cutTo(uint64_t rows, size_t bytes) {
    rows_ = rows;
    text_.resize(bytes);
  }
  std::string finish();

 private:
  const RowWriter writer_;
  const Format format_;
  const bool single_;
  uint64_t rows_ = 0;
  std::string text_;
};

// A write: its statements in a queue, each with the use that its rows are put to. While the queue is empty
// goOn() is asked; when that has nothing more to do the result is put together.
class WriteBase : public Operation {
 public:
  WriteBase(const ExposedTable& table, const Exposure& exposure, Query query, WriteOptions options);

  // What has to be known before it starts. False: `problem`.
  virtual bool plan(Problem& problem) = 0;

  const ExposedTable& table() const noexcept override { return table_; }
  bool isWrite() const noexcept override { return true; }
  bool needsTransaction() const noexcept override { return transaction_ || options_.preferences.rollback; }
  bool look(db::Statement& out) override;
  bool next(db::Statement& out) override;
  void onColumns(const db::ResultColumns& columns) override { columns_ = &columns; }
  void onRow(const db::Row& row) override;
  void onResult(const db::Outcome& outcome) override;
  bool onError(const db::Error& error) override;
  bool beginsAgain() noexcept override { return std::exchange(begins_again_, false); }
  size_t bytes() const noexcept override {
    return result_.body.size() + (representation_ ? representation_->bytes() : 0);
  }
  bool failed() const noexcept override { return failed_; }
  const Problem& problem() const noexcept override { return problem_; }
  OperationResult& result() noexcept override { return result_; }

 protected:
  enum class Use : uint8_t {
    kWrite,      // changes rows; what it returns is represented
    kKeys,       // rows are keys
    kTag,        // one row, for If-Match: what is represented, and the version behind it
    kExists,     // any row: `exists_`
    kCount,      // one number: added to `counted_`
    kRepresent,  // rows are represented
    kAnnounce,   // rows are what the table's channel is told
  };
  struct Step {
    db::Statement statement;
    Use use = Use::kWrite;
    size_t first = 0;  // of what the writer counts
    size_t count = 0;
  };

  virtual bool addLooks() { return false; }  // see look(); false: there are none
  virtual bool goOn() = 0;                   // the queue is empty; false: all is done
  // A statement that writes has ended; `rows`: that it returned or, where none, affected.
  virtual void onWritten(const Step& step, const db::Outcome& outcome, uint64_t rows) = 0;
  virtual void complete() = 0;  // sets result_'s status, and more where there is more

  bool fail(Problem problem);  // always false
  bool fail(int status, const char* code, std::string detail);
  bool wantsRows() const noexcept {
    return options_.preferences.returns == Preferences::Return::kRepresentation;
  }
  // What goOn() ends with: changed rows are looked at where `looks_` says so, then they are read.
  bool endRows(bool reads);
  // Appends the list of what is represented, and behind it the key's columns where `with_key`.
  bool appendList(db::Statement& out, bool with_key, Problem& problem);
  bool beginRepresentation(Problem& problem);  // once, before rows can come
  // "SELECT list[, version] FROM t". False: it has failed.
  bool appendRead(db::Statement& out, bool with_version);
  // A statement, or several, of `head` and the keys, of which there are some.
  void addByKeys(Use use, const db::Statement& head, const Key& key, const std::vector<KeyValues>& keys,
                 bool locks);
  // "SELECT list FROM t WHERE keys" for all of keys_, in several statements.
  void representByKeys();
  // Counts those of keys_ that keep to the fixed conditions: fewer than all is a failure.
  void countInside();
  // Whether the table's channel is to be told of the rows, which takes their keys.
  bool announces() const noexcept { return !table_.config->publish.empty() && table_.key() != nullptr; }
  // What writes return (appendList) is what the channel is told: it need not be read behind them.
  void announceReturned();
  bool needsKeys() const noexcept { return options_.collect_keys || announces(); }
  // Of a transaction that has read before: rows as they are, not as they were then. (What it has inserted
  // itself it sees, and an account that only inserts may not lock.)
  bool locks() const noexcept {
    return options_.method != kInsert || options_.preferences.resolution == Preferences::Resolution::kMerge;
  }
  void appendFixed(db::Statement& out);  // " WHERE ..." or nothing
  const std::string& zone() const noexcept { return exposure_.catalog->time_zone; }
  uint64_t mostRows() const noexcept;  // that an answer represents
  void succeed(int status, uint64_t rows);
  // handling=strict, max-affected=...; single. False: it has failed.
  bool mayWrite(uint64_t rows);
  // The statement has failed, and the operation goes on: rows that it brought before are none.
  void forgetRows();
  bool bumpsVersion(const BodyRow& row) const;
  void appendBump(db::SqlText& out) const;
  void describeKey(const KeyValues& key);

  const ExposedTable& table_;
  const Exposure& exposure_;
  const Query query_;
  const WriteOptions options_;
  const Key* const key_;  // nullptr: none
  FixedRows fixed_;
  bool transaction_ = false;
  bool has_looked_ = false;    // look() was asked
  bool begins_again_ = false;  // see beginsAgain()
  bool looks_ = false;         // at rows once they are changed
  bool tells_ = true;  // the table's channel of the rows, where it has one; otherwise their number alone
  std::deque<Step> steps_;
  Step step_;  // under way
  std::vector<KeyValues> keys_;
  uint64_t counted_ = 0;
  bool exists_ = false;
  bool tag_matches_ = false;
  size_t key_cells_at_ = 0;  // in rows that a write returns: where its key's cells are
  bool returns_keys_ = false;
  std::vector<OutputColumn> output_;
  std::optional<Representation> representation_;

 private:
  enum class Ending : uint8_t { kWritten, kInside, kRead };

  bool more();
  bool take(db::Statement& out);
  void onTagRow(const db::Row& row);
  void announce();
  void addAnnounced(const db::Row& row);
  void finishAnnouncement();
  void addKey(const db::Row& row, size_t at);

  Ending ending_ = Ending::kWritten;
  bool looking_ = false;
  std::vector<OutputColumn> announced_columns_;
  std::optional<Representation> announcement_;
  bool announced_ = false;
  bool announces_returned_ = false;
  size_t announced_at_ = 0;         // in rows that a write returns: where its cells for the channel are
  db::ResultColumns announced_as_;  // what they are
  uint64_t rows_ = 0;               // that the statement under way has brought
  // What there was before the statement under way: keys, bytes and rows of the answer, and for the channel.
  size_t keys_before_ = 0;
  size_t bytes_before_ = 0;
  uint64_t written_before_ = 0;
  size_t told_bytes_before_ = 0;
  uint64_t told_before_ = 0;
  const db::ResultColumns* columns_ = nullptr;
  bool failed_ = false;
  Problem problem_;
  OperationResult result_;
};

}  // namespace roost::tables
