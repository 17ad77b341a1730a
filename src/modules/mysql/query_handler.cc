#include "modules/mysql/query_handler.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "base/memory.h"
#include "db/pool.h"
#include "event/loop.h"
#include "http/exchange.h"
#include "log/log.h"
#include "modules/mysql/body_gatherer.h"
#include "modules/mysql/entity_tag.h"
#include "modules/mysql/error_report.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_answer.h"
#include "modules/mysql/row_stream.h"
#include "tables/db_problem.h"
#include "tables/output.h"

namespace roost::modules::mysql {
namespace {

using tables::Format;
using tables::Problem;

constexpr uint32_t kAlteredMeanwhile = 1412;  // ER_TABLE_DEF_CHANGED: since its transaction began

// No reading of the schema makes a configured statement another one: asking again brings the same.
bool isOfConfiguration(const db::Error& error, const Problem& problem) noexcept {
  return problem.code == "schema_changed" && error.number != kAlteredMeanwhile;
}

Problem notAcceptableHere() {
  return {406, "not_acceptable", "Accept names nothing that this can be sent as", "application/json", {}};
}

Problem tooManyRows() {
  return {500, "too_many_rows", "the result is larger than this route sends", {}, {}};
}

// One request. Owned by its exchange; loop thread.
class QueryRun final : public http::ExchangeListener, public db::Work {
 public:
  QueryRun(http::Exchange& exchange, std::shared_ptr<QueryRoute> route, db::Pool& pool,
           std::shared_ptr<tables::BodyBudget> bodies)
      : exchange_(exchange),
        route_(std::move(route)),
        config_(route_->config()),
        pool_(pool),
        lease_(std::move(bodies)),
        body_(config_.max_body_bytes, lease_),
        stream_(exchange, pool, *this) {}

  // The last thing that its caller does.
  void start() noexcept;

  // http::ExchangeListener
  void onBody(std::string_view piece, bool fin) noexcept override;
  void onWritable() noexcept override { stream_.onWritable(); }
  void onAbort(http::AbortReason) noexcept override {
    stream_.stop();
    pool_.cancel(*this);
  }

  // db::Work
  void onConnection(db::Link& link) noexcept override;
  void onColumns(db::Link& link, const db::ResultColumns& columns) noexcept override;
  bool onRow(db::Link& link, const db::Row& row) noexcept override;
  void onResult(db::Link& link, const db::Outcome& outcome) noexcept override;
  void onError(db::Link* link, const db::Error& error) noexcept override;

 private:
  // Which of the statements comes next; before the first a transaction begins, behind the last it ends.
  static constexpr size_t kBegin = SIZE_MAX;

  bool isLast(size_t statement) const noexcept { return statement + 1 == config_.statements.size(); }
  bool inTransaction() const noexcept { return config_.isTransaction(form_.single); }
  // Rows that nothing else depends on go out as they come. What writes is answered once it is committed.
  bool streams() const noexcept {
    return config_.result == QueryResult::kRows && !form_.single && config_.cache_s == 0 && !config_.writes;
  }
  // Of a row that has been counted.
  bool fits() const noexcept {
    return (config_.max_rows == 0 || rows_ <= config_.max_rows) &&
           (streams() || stream_.text().size() < config_.max_answer_bytes);
  }
  // Whether a second row tells all that is asked: what may not be asked for by GET has to end, since it may
  // call functions that write.
  bool needsNoMoreThanTwo() const noexcept {
    return config_.allows(http::Method::kGet) &&
           (config_.answersOne() || (config_.result == QueryResult::kRows && form_.single));
  }
  void execute(db::Link& link, size_t next) noexcept;
  void leaveRest() noexcept;
  void writeRow(const db::Row& row);
  void finishText(const db::Outcome& outcome);
  bool mayBeAnswered(Problem& problem, ProblemExtra& extra) const;
  void finish() noexcept;
  void refuseTooMany() noexcept;
  bool refuseForMemory() noexcept;
  void answer() noexcept;
  void describe(http::ResponseHead& head) const;
  bool mayAnswerAs(std::string_view body, http::ResponseHead& head);
  void sendKept(const QueryCache::Kept& kept) noexcept;
  std::string cacheKey() const { return QueryCache::keyOf(form_.content_type, values_); }

  http::Exchange& exchange_;
  const std::shared_ptr<QueryRoute> route_;
  const QueryRouteConfig& config_;
  db::Pool& pool_;
  tables::BodyLease lease_;  // of the body, and of the values that come of it
  BodyGatherer body_;
  std::vector<db::Value> values_;
  Form form_;
  size_t statement_ = 0;
  std::vector<tables::OutputColumn> columns_;
  const db::ResultColumns* result_ = nullptr;
  std::optional<tables::RowWriter> writer_;
  RowStream stream_;
  uint64_t rows_ = 0;
  bool failed_ = false;  // the answer has been given
};

void QueryRun::onBody(std::string_view piece, bool fin) noexcept {
  if (failed_) return exchange_.consumed(piece.size());
  if (Problem problem; !body_.add(piece, problem)) {
    failed_ = true;
    return replyProblem(exchange_, problem);
  }
  exchange_.consumed(piece.size());
  if (fin) start();
}

void QueryRun::start() noexcept {
  Problem problem;
  if (!chooseForm(exchange_.request(), form_)) return replyProblem(exchange_, notAcceptableHere());
  bool is_good = false;
  if (!memory::forPeer(
          [&] { is_good = route_->arguments().read(exchange_, body_.take(), values_, problem); }))
    return replyProblem(exchange_, noMemory());
  if (!is_good) return replyProblem(exchange_, problem);
  if (config_.cache_s != 0) {
    const int64_t now_ns = exchange_.context().loop().nowNs();
    const QueryCache::Kept kept = route_->cache(exchange_.context().index()).find(cacheKey(), now_ns);
    if (kept.body) return sendKept(kept);
  }
  // What may be asked for by GET may be done twice.
  const bool only_reads_once =
      !config_.writes && config_.statements.size() == 1 && config_.allows(http::Method::kGet);
  pool_.request(*this, only_reads_once ? db::Role::kReplica : db::Role::kPrimary);
}

void QueryRun::onConnection(db::Link& link) noexcept {
  if (config_.touches_session) link.touched();
  if (!inTransaction()) return execute(link, 0);
  statement_ = kBegin;
  link.execute({db::SqlText("START TRANSACTION"), {}});
}

void QueryRun::execute(db::Link& link, size_t next) noexcept {
  statement_ = next;
  writer_.reset();
  stream_.text().clear();
  rows_ = 0;
  if (isLast(next) && streams()) stream_.reserve();
  db::Statement statement;
  statement.text = config_.statements[next].text;
  for (const uint16_t argument : config_.statements[next].arguments)
    statement.values.push_back(values_[argument]);
  link.execute(std::move(statement));
}

void QueryRun::onColumns(db::Link&, const db::ResultColumns& columns) noexcept {
  result_ = &columns;
  if (statement_ >= config_.statements.size() || !isLast(statement_)) return;
  columns_.clear();
  for (const db::ResultColumn& column : columns) {
    tables::OutputColumn& made = columns_.emplace_back();
    made.name = column.name;
    tables::appendJsonString(column.name, made.json_key);
    made.json_key += ':';
  }
  tables::OutputOptions options;
  options.bigint = config_.bigint;
  options.decimal = config_.decimal;
  options.strip_nulls = form_.strip_nulls;
  writer_.emplace(columns_, options);
}

bool QueryRun::onRow(db::Link& link, const db::Row& row) noexcept {
  if (!writer_) return true;
  ++rows_;
  const bool one = config_.result != QueryResult::kRows || form_.single;
  if (rows_ > 1 && needsNoMoreThanTwo()) {
    leaveRest();
    return false;
  }
  if ((one && rows_ > 1) || (config_.writes && !fits())) return true;
  if (!fits()) {
    pool_.cancel(*this);  // the rest need not come
    refuseTooMany();
    return false;
  }
  if (!memory::forAnswer([&] { writeRow(row); })) return refuseForMemory();
  if (!streams() || !stream_.isFull()) return true;
  if (!stream_.begun()) {
    http::ResponseHead head(200);
    describe(head);
    stream_.begin(head);
  }
  return stream_.sendPiece(link);
}

void QueryRun::leaveRest() noexcept {
  pool_.cancel(*this);
  Problem problem;
  ProblemExtra extra;
  if (!mayBeAnswered(problem, extra)) return replyProblem(exchange_, problem, extra);
  finish();
}

void QueryRun::writeRow(const db::Row& row) {
  std::string& out = stream_.text();
  if (config_.result == QueryResult::kValue) return writer_->value(columns_[0], (*result_)[0], row[0], out);
  if (config_.result == QueryResult::kRow) return writer_->object(*result_, row, out);
  if (config_.result == QueryResult::kRows) appendRow(form_, rows_ == 1, *writer_, *result_, row, out);
}

void QueryRun::onResult(db::Link& link, const db::Outcome& outcome) noexcept {
  if (statement_ == kBegin) return execute(link, 0);
  if (statement_ < config_.statements.size()) {
    if (!isLast(statement_)) return execute(link, statement_ + 1);
    finishText(outcome);
    ++statement_;
    Problem problem;
    ProblemExtra extra;
    if (!mayBeAnswered(problem, extra)) {
      stream_.stop();
      link.release();  // which rolls back: what is told as an error is not done
      return replyProblem(exchange_, problem, extra);
    }
    if (inTransaction()) return link.execute({db::SqlText("COMMIT"), {}});
  }
  stream_.stop();
  link.release();  // another may have it while this is sent
  finish();
}

void QueryRun::finishText(const db::Outcome& outcome) {
  std::string& out = stream_.text();
  if (config_.result == QueryResult::kAffected) {
    out = fmt::format("{{\"affected\":{},\"insert_id\":{}}}", outcome.affected_rows,
                      outcome.insert_id != 0 ? std::to_string(outcome.insert_id) : "null");
  } else if (config_.result == QueryResult::kRows && writer_) {
    modules::mysql::finishText(form_, false, rows_, *writer_, out);
  } else if (config_.result == QueryResult::kRows && form_.format == Format::kJson && !form_.single) {
    out = "[]";
  }
}

// All rows are there, or have gone out.
bool QueryRun::mayBeAnswered(Problem& problem, ProblemExtra& extra) const {
  if (stream_.begun() || (config_.result != QueryResult::kRows && !config_.answersOne())) return true;
  if (config_.answersOne() && rows_ == 0) {
    problem = {404, "no_row", "there is no such row", {}, {}};
    return false;
  }
  if (config_.result == QueryResult::kRows && form_.single && rows_ != 1) {
    problem = notOneRow();
    extra.details = rows_ == 0 ? "The result contains 0 rows" : "The result contains several rows";
    return false;
  }
  if (config_.answersOne() ? stream_.text().size() < config_.max_answer_bytes : fits()) return true;
  problem = tooManyRows();
  return false;
}

void QueryRun::finish() noexcept {
  if (stream_.begun()) return stream_.finish();
  if (config_.result != QueryResult::kNone) return answer();
  http::ResponseHead head(204);
  exchange_.begin(head, true);
}

void QueryRun::refuseTooMany() noexcept {
  stream_.stop();
  if (!stream_.begun()) return replyProblem(exchange_, tooManyRows());
  LOG_EVERY_SECOND(WARN, "mysql_query {}: more than max_rows, {}: the answer is cut off", route_->path(),
                   config_.max_rows);
  exchange_.abandon();
}

// Of a row that has no room. False, as onRow says it. What writes may be done by now.
bool QueryRun::refuseForMemory() noexcept {
  pool_.cancel(*this);
  stream_.stop();
  if (!stream_.begun()) {
    replyProblem(exchange_, noMemoryForAnswer(config_.writes));
  } else {
    exchange_.context().noteNoMemory();
    exchange_.abandon();
  }
  return false;
}

void QueryRun::describe(http::ResponseHead& head) const {
  head.add("Content-Type", config_.result == QueryResult::kRows ? form_.content_type : "application/json");
  head.add("Vary", "Accept");
  head.add("Cache-Control",
           config_.cache_s != 0 ? fmt::format("max-age={}", config_.cache_s) : std::string("no-cache"));
}

// False: the request's conditions have been answered.
bool QueryRun::mayAnswerAs(std::string_view body, http::ResponseHead& head) {
  if (exchange_.method() != http::Method::kGet && !exchange_.isHead()) return true;
  return mayAnswer(exchange_, form_, entityTag(contentHash(body), false, form_.tag_suffix), head);
}

// All of it is there.
void QueryRun::answer() noexcept {
  http::ResponseHead head(200);
  describe(head);
  std::string& text = stream_.text();
  if (config_.cache_s == 0 && text.size() <= RowStream::kPieceBytes) {
    if (mayAnswerAs(text, head)) exchange_.reply(head, text);
    return;
  }
  // Many may wait for it, and a slow one long.
  const BufferRef body = BufferRef::copyForPeer(std::exchange(text, {}));
  if (!body) return replyProblem(exchange_, noMemoryForAnswer(config_.writes));
  if (config_.cache_s != 0) {
    constexpr int64_t kNsPerS = 1'000'000'000;
    const int64_t now_ns = exchange_.context().loop().nowNs();
    route_->cache(exchange_.context().index()).put(cacheKey(), body, now_ns, config_.cache_s * kNsPerS);
  }
  if (mayAnswerAs(body.view(), head)) replyShared(exchange_, head, body);
}

void QueryRun::sendKept(const QueryCache::Kept& kept) noexcept {
  http::ResponseHead head(200);
  describe(head);
  head.addNumber("Age", kept.age_s);
  if (mayAnswerAs(kept.body.view(), head)) replyShared(exchange_, head, kept.body);
}

void QueryRun::onError(db::Link* link, const db::Error& error) noexcept {
  stream_.stop();
  const bool commits = statement_ == config_.statements.size();
  // What was to be committed later is not there.
  const bool may_be_done =
      config_.writes && (commits || (!inTransaction() && statement_ < config_.statements.size()));
  const db::Error told = tables::asFarAsKnown(error, link != nullptr, may_be_done, commits);
  Problem problem = tables::problemOf(told, nullptr, may_be_done);
  ProblemExtra extra;
  extra.retry_after_s = problem.code == "outcome_unknown" ? 0 : tables::retryAfter(told);
  if (isOfConfiguration(told, problem)) {
    problem = {500, "database_error", "the database could not carry this out", {}, told.sqlstate};
    extra.retry_after_s = 0;
  }
  if (link != nullptr) {
    reportQueryError(route_->path(), told, problem, link->lastText());
    link->release();
  }
  if (stream_.begun()) return exchange_.abandon();  // the client sees that it is cut off
  replyProblem(exchange_, problem, extra);
}

// There are no connections then.
void explain(http::Exchange& exchange, const QueryRoute& route) {
  const QueryRouteConfig& config = route.config();
  Form form;
  Problem problem;
  std::vector<db::Value> values;
  if (!chooseForm(exchange.request(), form)) return replyProblem(exchange, notAcceptableHere());
  if (!route.arguments().read(exchange, {}, values, problem)) return replyProblem(exchange, problem);
  for (const tables::NamedSql& statement : config.statements) {
    exchange.trace()->note(
        fmt::format("executes with {} values: {}", statement.arguments.size(), statement.text.view()));
  }
  leaveToDatabase(exchange,
                  config.isTransaction(form.single) ? "all of it in one transaction" : "in no transaction");
}

}  // namespace

void QueryHandler::handle(http::Exchange& exchange) const noexcept {
  const QueryRouteConfig& config = route_->config();
  if (!config.allows(exchange.method())) {
    const std::string allow = config.allow();
    if (exchange.method() == http::Method::kOptions) {
      http::ResponseHead head(204);
      head.add("Allow", allow);
      return exchange.begin(head, true);
    }
    return replyNotAllowed(exchange, allow, fmt::format("this takes {}", allow));
  }
  // What GET may ask for only reads.
  const bool reads = exchange.method() == http::Method::kGet || exchange.method() == http::Method::kHead;
  if (!reads && refuseForeign(exchange)) return;
  if (exchange.trace() != nullptr) return explain(exchange, *route_);
  Problem problem;
  if (!readProfile(exchange.request(), runtime_.databaseName(), problem))
    return replyProblem(exchange, problem);
  auto run = std::make_unique<QueryRun>(exchange, route_, runtime_.pool(exchange.context().index()),
                                        runtime_.bodies());
  QueryRun& made = *run;
  const bool has_body = exchange.hasBody();
  exchange.endWithPeer();
  exchange.listen(std::move(run));
  if (!has_body) made.start();
}

}  // namespace roost::modules::mysql
