#include "modules/mysql/read_operation.h"

#include <fmt/format.h>

#include <utility>

#include "modules/mysql/read_answer.h"

namespace roost::modules::mysql {
namespace {

constexpr size_t kMostBytes = 8 << 20;  // of one operation's rows, which wait for the others

}  // namespace

ReadOperation::ReadOperation(const tables::ExposedTable& table, const tables::Exposure& exposure, bool single)
    : table_(table), exposure_(exposure), single_(single) {}

std::unique_ptr<ReadOperation> ReadOperation::plan(const tables::ExposedTable& table,
                                                   const tables::Exposure& exposure,
                                                   const tables::Query& query,
                                                   const tables::ReadOptions& options,
                                                   tables::Problem& problem) {
  std::unique_ptr<ReadOperation> made(new ReadOperation(table, exposure, options.single));
  if (!tables::planRead(table, exposure, query, options, made->plan_, problem)) return nullptr;
  made->begin();
  return made;
}

tables::OutputOptions ReadOperation::outputOptions() const noexcept {
  tables::OutputOptions options;
  options.bigint = exposure_.config->bigint;
  options.decimal = exposure_.config->decimal;
  options.time_zone = exposure_.catalog->time_zone;
  return options;
}

void ReadOperation::begin() {
  writer_.emplace(plan_.columns, outputOptions());
  if (!plan_.embeds.empty()) merge_.emplace(plan_.embeds, outputOptions());
}

void ReadOperation::fail(tables::Problem problem) {
  failed_ = true;
  problem_ = std::move(problem);
}

bool ReadOperation::tooLarge() {
  if (text_.size() < kMostBytes && (!merge_ || merge_->bytes() < kMostBytes)) return false;
  if (!failed_)
    fail({400,
          "too_many_rows",
          fmt::format("more than {} bytes of rows", kMostBytes),
          "Ask for fewer by limit.",
          {}});
  return true;
}

bool ReadOperation::next(db::Statement& out) {
  if (failed_) return false;
  if (step_ == 0 && !plan_.count) step_ = 1;
  if (step_ < 2) {
    out = step_ == 0 ? *plan_.count : plan_.rows;
    return true;
  }
  const uint32_t most = exposure_.config->limits.max_embed_rows;
  if (merge_ && (rows_ > most || too_many_)) {
    fail(embedProblem(most, merge_->hasStray()));
    return false;
  }
  size_t embed = step_ - 2;
  while (merge_ && embed < plan_.embeds.size() && !merge_->hasKeys(embed)) ++embed;
  if (!merge_ || embed >= plan_.embeds.size()) {
    complete();
    return false;
  }
  step_ = embed + 2;
  out = merge_->statement(embed);
  return true;
}

void ReadOperation::onRow(const db::Row& row) {
  if (step_ == 0) {
    total_ = numberIn(*columns_, row, 0);
    return;
  }
  if (step_ > 1) {
    too_many_ = !merge_->addInner(step_ - 2, *columns_, row) || too_many_;
    return;
  }
  ++rows_;
  if (tooLarge()) return;
  if (merge_) return merge_->addRow(*writer_, *columns_, row);
  if (rows_ > 1) text_ += ',';
  writer_->object(*columns_, row, text_);
}

void ReadOperation::complete() {
  result_.rows = rows_;
  if (single_ && rows_ != 1) return fail(notOneRow());
  if (merge_) merge_->appendTo(text_, ",");
  result_.has_body = true;
  result_.body = single_ ? std::move(text_) : '[' + std::move(text_) + ']';
  const std::string total = total_ ? std::to_string(*total_) : "*";
  result_.content_range =
      rows_ == 0 ? "*/" + total : fmt::format("{}-{}/{}", plan_.offset, plan_.offset + rows_ - 1, total);
  result_.status = total_ && rows_ < *total_ ? 206 : 200;
}

}  // namespace roost::modules::mysql
