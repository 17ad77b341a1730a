#include "modules/mysql/read_work.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cell_pool.h"
#include "db/pool.h"
#include "event/loop.h"
#include "http/exchange.h"
#include "http/framed.h"
#include "modules/mysql/embed_merge.h"
#include "modules/mysql/error_report.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_answer.h"
#include "modules/mysql/read_request.h"
#include "modules/mysql/write_handler.h"
#include "tables/db_problem.h"
#include "tables/read.h"

namespace roost::modules::mysql {
namespace {

using tables::Format;
using tables::Preferences;
using tables::Problem;

// What fits into this goes out as one answer with its length and tag; more is sent in pieces of about this.
constexpr size_t kPieceBytes = 32 << 10;
// Of an answer with embedded rows, which is put together before it is sent.
constexpr size_t kMostMergedBytes = 8 << 20;
// A client that takes nothing for this long loses its query: longer than a stall of a network, and shorter
// than the server waits for us (net_write_timeout, 60 s) before it ends the connection.
constexpr event::Nanos kMostBlocked = std::chrono::seconds(30);

// Strings that have been large enough for a piece, for the next answers of this thread.
class Pieces {
 public:
  static std::string take() {
    if (spare().empty()) {
      std::string made;
      made.reserve(kPieceBytes + (kPieceBytes >> 2));
      return made;
    }
    std::string taken = std::move(spare().back());
    spare().pop_back();
    return taken;
  }
  static void give(std::string&& piece) noexcept {
    if (piece.capacity() < kPieceBytes || piece.capacity() > 4 * kPieceBytes || spare().size() == kMost)
      return;
    piece.clear();
    spare().push_back(std::move(piece));
  }

 private:
  static constexpr size_t kMost = 16;
  static std::vector<std::string>& spare() noexcept {
    thread_local std::vector<std::string> kept;
    return kept;
  }
};

// After so many pieces in one turn of the loop, its other connections come first: a millisecond's work.
constexpr unsigned kPiecesInTurn = 8;

// What a request has become by the time that it needs the database.
struct ReadJob {
  tables::ReadPlan plan;
  Preferences preferences;
  Form form;
};

// Reads rows and sends them as they come. Owned by its exchange; loop thread.
class ReadWork final : public http::ExchangeListener,
                       public db::Work,
                       public Pooled<ReadWork>,
                       private event::Timer {
 public:
  ReadWork(http::Exchange& exchange, ReadSite site, const tables::ExposedTable& table, ReadJob job)
      : exchange_(exchange),
        loop_(exchange.context().loop()),
        site_(std::move(site)),
        table_(table),
        job_(std::move(job)),
        options_(outputOptions()),
        writer_(job_.plan.columns, options_),
        is_head_(exchange.isHead()) {}
  ~ReadWork() override {
    loop_.cancel(*this);
    Pieces::give(std::move(out_));
  }

  // http::ExchangeListener
  void onBody(std::string_view piece, bool) noexcept override { exchange_.consumed(piece.size()); }
  void onWritable() noexcept override {
    if (!blocked_) return;
    blocked_ = false;
    loop_.cancel(*this);
    link_->resume();
  }
  void onAbort(http::AbortReason) noexcept override {
    loop_.cancel(*this);
    site_.pool->cancel(*this);
  }

  // db::Work
  void onConnection(db::Link& link) noexcept override;
  void onColumns(db::Link& link, const db::ResultColumns& columns) noexcept override;
  bool onRow(db::Link& link, const db::Row& row) noexcept override;
  void onResult(db::Link& link, const db::Outcome& outcome) noexcept override;
  void onError(db::Link* link, const db::Error& error) noexcept override;

 private:
  enum class Step : uint8_t { kExplain, kCount, kRows, kEmbed };

  tables::OutputOptions outputOptions() const noexcept {
    tables::OutputOptions options;
    options.bigint = site_.exposure->config->bigint;
    options.decimal = site_.exposure->config->decimal;
    options.time_zone = site_.exposure->catalog->time_zone;
    options.strip_nulls = job_.form.strip_nulls;
    return options;
  }
  // event::Timer
  void onTimer() noexcept override {
    if (yields_) {
      yields_ = false;
      return link_->resume();
    }
    site_.pool->cancel(*this);
    exchange_.abandon();
  }

  void execute(db::Link& link, Step step, db::Statement statement) noexcept {
    step_ = step;
    link.execute(std::move(statement));
  }
  void executeRows(db::Link& link) noexcept {
    if (merge_ == std::nullopt) out_ = Pieces::take();
    execute(link, Step::kRows, std::move(job_.plan.rows));
  }
  void onTotal(db::Link& link) noexcept;
  void executeEmbed(db::Link& link) noexcept;
  void writeRow(const db::Row& row);
  bool sendPiece() noexcept;
  bool mayGoOn() noexcept;
  void finish(db::Link& link) noexcept;
  void answerWhole() noexcept;
  void refuse(db::Link* link, Problem problem, const ProblemExtra& extra = {}) noexcept;

  http::Exchange& exchange_;
  event::Loop& loop_;
  const ReadSite site_;
  const tables::ExposedTable& table_;
  ReadJob job_;
  const tables::OutputOptions options_;
  const tables::RowWriter writer_;
  std::optional<EmbedMerge> merge_;
  const db::ResultColumns* columns_ = nullptr;  // of the statement that runs
  db::Link* link_ = nullptr;                    // while one runs
  std::string out_;
  ReadFacts facts_;
  size_t embed_ = 0;     // which of the plan's
  uint64_t number_ = 0;  // what a counting statement has brought
  Step step_ = Step::kRows;
  bool begun_ = false;
  bool blocked_ = false;
  bool yields_ = false;   // until the timer
  unsigned pieces_ = 0;   // sent in this turn
  int64_t turn_ns_ = -1;  // when it began
  const bool is_head_;
};

void ReadWork::onConnection(db::Link& link) noexcept {
  link_ = &link;
  if (!job_.plan.embeds.empty()) merge_.emplace(job_.plan.embeds, options_);
  if (job_.plan.explain) return execute(link, Step::kExplain, std::move(*job_.plan.explain));
  if (job_.plan.count) return execute(link, Step::kCount, std::move(*job_.plan.count));
  executeRows(link);
}

void ReadWork::onColumns(db::Link&, const db::ResultColumns& columns) noexcept {
  columns_ = &columns;
}

bool ReadWork::onRow(db::Link&, const db::Row& row) noexcept {
  switch (step_) {
    case Step::kExplain:
      if (facts_.rows++ == 0) number_ = explainedRows(*columns_, row);
      return true;
    case Step::kCount:
      number_ = numberIn(*columns_, row, 0);
      return true;
    case Step::kEmbed:
      facts_.too_many = !merge_->addInner(embed_, *columns_, row) || facts_.too_many;
      return true;
    case Step::kRows:
      break;
  }
  ++facts_.rows;
  if (job_.form.single && facts_.rows > 1) return true;
  if (facts_.rows == 1 && table_.version >= 0) noteVersion(table_, job_.plan, *columns_, row, facts_);
  writeRow(row);
  return out_.size() < kPieceBytes || sendPiece();
}

void ReadWork::writeRow(const db::Row& row) {
  if (merge_) {
    if (merge_->bytes() < kMostMergedBytes) merge_->addRow(writer_, *columns_, row);
    return;
  }
  const bool first = facts_.rows == 1;
  switch (job_.form.format) {
    case Format::kJson:
      if (!job_.form.single) out_ += first ? '[' : ',';
      return writer_.object(*columns_, row, out_);
    case Format::kNdjson:
      writer_.object(*columns_, row, out_);
      out_ += '\n';
      return;
    case Format::kCsv:
      if (first) {
        writer_.csvHeading(out_);
        out_ += "\r\n";
      }
      writer_.csvLine(*columns_, row, out_);
      out_ += "\r\n";
      return;
  }
}

// More than fits into one answer: from here on its length is not known. False: no more rows for now.
bool ReadWork::sendPiece() noexcept {
  if (job_.form.single) return true;  // there may be another row, and then it is not sent
  if (!begun_) {
    begun_ = true;
    const ReadFacts told = expected(facts_, job_.plan);
    http::ResponseHead head(statusOf(told));
    describeRows(exchange_, job_.form, job_.preferences, head);
    if (told.total) describeRange(told, job_.plan, head);
    exchange_.begin(head, is_head_);
  }
  if (is_head_) {
    site_.pool->cancel(*this);
    return false;
  }
  // Says that it is blocked as soon as anything waits, where copied bytes may gather.
  char* content = nullptr;
  const BufferRef piece = http::makeFramed(out_.size(), content);
  std::memcpy(content, out_.data(), out_.size());
  const http::SendResult sent = exchange_.sendFramed(piece);
  out_.clear();
  if (sent == http::SendResult::kAccepted) return mayGoOn();
  if (sent == http::SendResult::kClosed) {
    site_.pool->cancel(*this);
    return false;
  }
  blocked_ = true;
  loop_.armIn(*this, kMostBlocked);
  return false;
}

// False: in the loop's next turn.
bool ReadWork::mayGoOn() noexcept {
  if (std::exchange(turn_ns_, loop_.nowNs()) != loop_.nowNs()) pieces_ = 0;
  if (++pieces_ < kPiecesInTurn) return true;
  yields_ = true;
  loop_.armIn(*this, event::Nanos(0));
  return false;
}

void ReadWork::onResult(db::Link& link, const db::Outcome&) noexcept {
  switch (step_) {
    case Step::kExplain:
      facts_.rows = 0;
      // A small number may as well be the right one.
      if (job_.plan.count && number_ <= kEstimateFrom)
        return execute(link, Step::kCount, std::move(*job_.plan.count));
      return onTotal(link);
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
  link_ = nullptr;
  link.release();  // another may have it while this is sent
  if (job_.form.single && facts_.rows != 1) {
    ProblemExtra extra;
    const std::string details =
        "The result contains " + std::string(facts_.rows == 0 ? "0" : "several") + " rows";
    extra.details = details;
    return replyProblem(exchange_, notOneRow(), extra);
  }
  if (merge_) merge_->appendTo(out_, job_.form.format == Format::kJson ? "," : "\n");
  finishText(job_.form, job_.plan, merge_.has_value(), facts_.rows, writer_, out_);
  if (!begun_) return answerWhole();
  exchange_.send(out_, true);
}

void ReadWork::answerWhole() noexcept {
  // A guess may be too low, and rows may have come since they were counted.
  if (facts_.total && facts_.rows > 0) facts_.total = std::max(*facts_.total, job_.plan.offset + facts_.rows);
  http::ResponseHead head(statusOf(facts_));
  describeRows(exchange_, job_.form, job_.preferences, head);
  describeRange(facts_, job_.plan, head);
  replyTagged(exchange_, job_.form, facts_, out_, head);
}

void ReadWork::onError(db::Link* link, const db::Error& error) noexcept {
  link_ = nullptr;
  columns_ = nullptr;
  Problem problem = tables::problemOf(error, &table_, false);
  if (link != nullptr) reportRestError(&table_, error, problem, link->lastText());
  if (problem.code == "schema_changed" && site_.alarm != nullptr) site_.alarm->onSchemaChanged();
  ProblemExtra extra;
  extra.retry_after_s = tables::retryAfter(error);
  refuse(link, std::move(problem), extra);
}

// What has been sent already cannot be taken back: the client sees that it is cut off.
void ReadWork::refuse(db::Link* link, Problem problem, const ProblemExtra& extra) noexcept {
  link_ = nullptr;
  loop_.cancel(*this);
  if (link != nullptr) link->release();
  if (begun_) return exchange_.abandon();
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
