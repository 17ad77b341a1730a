#include "modules/mysql/read_work.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "db/pool.h"
#include "http/exchange.h"
#include "modules/mysql/embed_merge.h"
#include "modules/mysql/error_report.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_answer.h"
#include "modules/mysql/read_request.h"
#include "modules/mysql/row_stream.h"
#include "modules/mysql/write_handler.h"
#include "tables/db_problem.h"
#include "tables/read.h"

namespace roost::modules::mysql {
namespace {

using tables::Format;
using tables::Preferences;
using tables::Problem;

// Of an answer with embedded rows, which is put together before it is sent.
constexpr size_t kMostMergedBytes = 8 << 20;
// What a request has become by the time that it needs the database.
struct ReadJob {
  tables::ReadPlan plan;
  Preferences preferences;
  Form form;
};

// Reads rows and sends them as they come. Owned by its exchange; loop thread.
class ReadWork final : public http::ExchangeListener, public db::Work {
 public:
  ReadWork(http::Exchange& exchange, ReadSite site, const tables::ExposedTable& table, ReadJob job)
      : exchange_(exchange),
        site_(std::move(site)),
        table_(table),
        job_(std::move(job)),
        options_(outputOptions()),
        writer_(job_.plan.columns, options_),
        stream_(exchange, *site_.pool, *this) {}

  // http::ExchangeListener
  void onBody(std::string_view piece, bool) noexcept override { exchange_.consumed(piece.size()); }
  void onWritable() noexcept override { stream_.onWritable(); }
  void onAbort(http::AbortReason) noexcept override {
    stream_.stop();
    site_.pool->cancel(*this);
  }

  // db::Work
  void onConnection(db::Link& link) noexcept override;
  void onColumns(db::Link& link, const db::ResultColumns& columns) noexcept override;
  bool onRow(db::Link& link, const db::Row& row) noexcept override;
  void onResult(db::Link& link, const db::Outcome& outcome) noexcept override;
  void onError(db::Link* link, const db::Error& error) noexcept override;

 private:
  enum class Step : uint8_t { kExplain, kBegin, kCount, kRows, kEmbed };

  tables::OutputOptions outputOptions() const noexcept {
    tables::OutputOptions options;
    options.bigint = site_.exposure->config->bigint;
    options.decimal = site_.exposure->config->decimal;
    options.time_zone = site_.exposure->catalog->time_zone;
    options.strip_nulls = job_.form.strip_nulls;
    return options;
  }
  void execute(db::Link& link, Step step, db::Statement statement) noexcept {
    step_ = step;
    link.execute(std::move(statement));
  }
  // The count and the rows are of one moment: the transaction's first read settles which (REPEATABLE READ).
  // It ends when the connection is given back, which nobody waits for.
  void executeCount(db::Link& link) noexcept {
    execute(link, Step::kBegin, {db::SqlText("START TRANSACTION"), {}});
  }
  bool refuseForMemory() noexcept;
  void executeRows(db::Link& link) noexcept {
    if (merge_ == std::nullopt) stream_.reserve();
    execute(link, Step::kRows, std::move(job_.plan.rows));
  }
  void onTotal(db::Link& link) noexcept;
  void executeEmbed(db::Link& link) noexcept;
  void writeRow(const db::Row& row);
  bool sendPiece(db::Link& link) noexcept;
  void finish(db::Link& link) noexcept;
  void answerWhole() noexcept;
  void refuse(db::Link* link, const Problem& problem, const ProblemExtra& extra = {}) noexcept;

  http::Exchange& exchange_;
  const ReadSite site_;
  const tables::ExposedTable& table_;
  ReadJob job_;
  const tables::OutputOptions options_;
  const tables::RowWriter writer_;
  std::optional<EmbedMerge> merge_;
  const db::ResultColumns* columns_ = nullptr;  // of the statement that runs
  RowStream stream_;
  ReadFacts facts_;
  size_t embed_ = 0;     // which of the plan's
  uint64_t number_ = 0;  // what a counting statement has brought
  Step step_ = Step::kRows;
};

void ReadWork::onConnection(db::Link& link) noexcept {
  if (!job_.plan.embeds.empty()) merge_.emplace(job_.plan.embeds, options_);
  if (job_.plan.explain) return execute(link, Step::kExplain, std::move(*job_.plan.explain));
  if (job_.plan.count) return executeCount(link);
  executeRows(link);
}

void ReadWork::onColumns(db::Link&, const db::ResultColumns& columns) noexcept {
  columns_ = &columns;
}

bool ReadWork::onRow(db::Link& link, const db::Row& row) noexcept {
  switch (step_) {
    case Step::kExplain:
      if (facts_.rows++ == 0) number_ = explainedRows(*columns_, row);
      return true;
    case Step::kBegin:
      return true;
    case Step::kCount:
      number_ = numberIn(*columns_, row, 0);
      return true;
    case Step::kEmbed:
      return memory::forAnswer(
                 [&] { facts_.too_many = !merge_->addInner(embed_, *columns_, row) || facts_.too_many; }) ||
             refuseForMemory();
    case Step::kRows:
      break;
  }
  ++facts_.rows;
  if (job_.form.single && facts_.rows > 1) return true;
  if (facts_.rows == 1 && table_.version >= 0) noteVersion(table_, job_.plan, *columns_, row, facts_);
  if (!memory::forAnswer([&] { writeRow(row); })) return refuseForMemory();
  return !stream_.isFull() || sendPiece(link);
}

// Of a row that has no room. False, as onRow says it.
bool ReadWork::refuseForMemory() noexcept {
  site_.pool->cancel(*this);
  stream_.stop();
  if (!stream_.begun()) {
    replyProblem(exchange_, noMemory());
  } else {
    exchange_.context().noteNoMemory();
    exchange_.abandon();
  }
  return false;
}

void ReadWork::writeRow(const db::Row& row) {
  if (merge_) {
    if (merge_->bytes() < kMostMergedBytes) merge_->addRow(writer_, *columns_, row);
    return;
  }
  appendRow(job_.form, facts_.rows == 1, writer_, *columns_, row, stream_.text());
}

// More than fits into one answer: from here on its length is not known. False: no more rows for now.
bool ReadWork::sendPiece(db::Link& link) noexcept {
  if (job_.form.single) return true;  // there may be another row, and then it is not sent
  if (!stream_.begun()) {
    const ReadFacts told = expected(facts_, job_.plan);
    http::ResponseHead head(statusOf(told));
    describeRows(exchange_, job_.form, job_.preferences, head);
    if (told.total) describeRange(told, job_.plan, head);
    stream_.begin(head);
  }
  return stream_.sendPiece(link);
}

void ReadWork::onResult(db::Link& link, const db::Outcome&) noexcept {
  switch (step_) {
    case Step::kExplain:
      facts_.rows = 0;
      // A small number may as well be the right one.
      if (job_.plan.count && number_ <= kEstimateFrom) return executeCount(link);
      return onTotal(link);
    case Step::kBegin:
      return execute(link, Step::kCount, std::move(*job_.plan.count));
    case Step::kCount:
      facts_.exact = true;
      return onTotal(link);
    case Step::kRows:
      return merge_ ? executeEmbed(link) : finish(link);
    case Step::kEmbed:
      ++embed_;
      return executeEmbed(link);
  }
}

void ReadWork::onTotal(db::Link& link) noexcept {
  facts_.total = number_;
  if (!facts_.exact || job_.plan.offset <= number_) return executeRows(link);
  http::ResponseHead lines(416);
  lines.add("Content-Range", "*/" + std::to_string(number_));
  ProblemExtra extra;
  extra.lines = &lines;
  refuse(&link, rangeProblem(job_.plan.offset, number_), extra);
}

void ReadWork::executeEmbed(db::Link& link) noexcept {
  const uint32_t most = site_.exposure->config->limits.max_embed_rows;
  if (facts_.rows > most || facts_.too_many || merge_->bytes() >= kMostMergedBytes)
    return refuse(&link, embedProblem(most, merge_->hasStray()));
  while (embed_ < job_.plan.embeds.size() && !merge_->hasKeys(embed_)) ++embed_;
  if (embed_ == job_.plan.embeds.size()) return finish(link);
  execute(link, Step::kEmbed, merge_->statement(embed_));
}

void ReadWork::finish(db::Link& link) noexcept {
  stream_.stop();
  link.release();  // another may have it while this is sent
  if (job_.form.single && facts_.rows != 1) {
    ProblemExtra extra;
    const std::string details =
        "The result contains " + std::string(facts_.rows == 0 ? "0" : "several") + " rows";
    extra.details = details;
    return replyProblem(exchange_, notOneRow(), extra);
  }
  if (merge_) merge_->appendTo(stream_.text(), job_.form.format == Format::kJson ? "," : "\n");
  finishText(job_.form, merge_.has_value(), facts_.rows, writer_, stream_.text());
  if (!stream_.begun()) return answerWhole();
  stream_.finish();
}

void ReadWork::answerWhole() noexcept {
  // A guess may be too low, and rows may have come since they were counted.
  if (facts_.total && facts_.rows > 0) facts_.total = std::max(*facts_.total, job_.plan.offset + facts_.rows);
  http::ResponseHead head(statusOf(facts_));
  describeRows(exchange_, job_.form, job_.preferences, head);
  describeRange(facts_, job_.plan, head);
  replyTagged(exchange_, job_.form, facts_, stream_.text(), head);
}

void ReadWork::onError(db::Link* link, const db::Error& error) noexcept {
  columns_ = nullptr;
  Problem problem = tables::problemOf(error, &table_, false);
  if (link != nullptr) reportRestError(&table_, error, problem, link->lastText());
  if (problem.code == "schema_changed" && site_.alarm != nullptr) site_.alarm->onSchemaChanged();
  ProblemExtra extra;
  extra.retry_after_s = tables::retryAfter(error);
  refuse(link, problem, extra);
}

// What has been sent already cannot be taken back: the client sees that it is cut off.
void ReadWork::refuse(db::Link* link, const Problem& problem, const ProblemExtra& extra) noexcept {
  stream_.stop();
  if (link != nullptr) link->release();
  if (stream_.begun()) return exchange_.abandon();
  replyProblem(exchange_, problem, extra);
}

bool plan(http::Exchange& exchange, const ReadSite& site, const tables::ExposedTable& table, ReadJob& job,
          Problem& problem) {
  const http::RequestHead& head = exchange.request();
  if (!chooseForm(head, job.form)) {
    problem = notAcceptable();
    return false;
  }
  tables::Query query;
  tables::ReadOptions options;
  if (!readPrefer(head, job.preferences, problem) || !readRange(head, options.range, problem)) return false;
  if (!tables::parseQuery(exchange.query(), site.exposure->config->limits, query, problem)) return false;
  options.preferences = job.preferences;
  options.single = job.form.single;
  if (!tables::planRead(table, *site.exposure, query, options, job.plan, problem)) return false;
  if (job.form.format != Format::kCsv || job.plan.embeds.empty()) return true;
  problem = notAcceptable();
  problem.detail = "rows within rows have no form in CSV";
  return false;
}

}  // namespace

void startRead(http::Exchange& exchange, ReadSite site, const tables::ExposedTable& table) noexcept {
  Problem problem;
  ReadJob job;
  if (!plan(exchange, site, table, job, problem)) return replyProblem(exchange, problem);
  db::Pool& pool = *site.pool;
  auto work = std::make_unique<ReadWork>(exchange, std::move(site), table, std::move(job));
  ReadWork& asks = *work;
  exchange.endWithPeer();
  exchange.listen(std::move(work));
  pool.request(asks, db::Role::kReplica);
}

}  // namespace roost::modules::mysql
