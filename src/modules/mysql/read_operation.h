#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "modules/mysql/embed_merge.h"
#include "tables/operation.h"
#include "tables/read.h"

namespace roost::modules::mysql {

// A read among other operations of a transaction: all of its rows as one text.
class ReadOperation final : public tables::Operation {
 public:
  // What is referred to outlives it. nullptr: `problem`.
  static std::unique_ptr<ReadOperation> plan(const tables::ExposedTable& table,
                                             const tables::Exposure& exposure, const tables::Query& query,
                                             const tables::ReadOptions& options, tables::Problem& problem);

  const tables::ExposedTable& table() const noexcept override { return table_; }
  bool isWrite() const noexcept override { return false; }
  bool needsTransaction() const noexcept override { return !plan_.embeds.empty() || plan_.count.has_value(); }
  bool next(db::Statement& out) override;
  void onColumns(const db::ResultColumns& columns) override { columns_ = &columns; }
  void onRow(const db::Row& row) override;
  void onResult(const db::Outcome&) override { ++step_; }
  bool onError(const db::Error&) override { return false; }
  size_t bytes() const noexcept override {
    return result_.has_body ? result_.body.size() : text_.size() + (merge_ ? merge_->bytes() : 0);
  }
  bool failed() const noexcept override { return failed_; }
  const tables::Problem& problem() const noexcept override { return problem_; }
  tables::OperationResult& result() noexcept override { return result_; }

 private:
  ReadOperation(const tables::ExposedTable& table, const tables::Exposure& exposure, bool single);
  tables::OutputOptions outputOptions() const noexcept;
  void begin();
  void fail(tables::Problem problem);
  void complete();
  bool tooLarge();

  const tables::ExposedTable& table_;
  const tables::Exposure& exposure_;
  const bool single_;
  tables::ReadPlan plan_;
  std::optional<tables::RowWriter> writer_;
  std::optional<EmbedMerge> merge_;
  const db::ResultColumns* columns_ = nullptr;
  size_t step_ = 0;  // 0: the count, 1: the rows, from 2 on: what is embedded
  uint64_t rows_ = 0;
  std::optional<uint64_t> total_;
  std::string text_;
  bool too_many_ = false;
  bool failed_ = false;
  tables::Problem problem_;
  tables::OperationResult result_;
};

}  // namespace roost::modules::mysql
