#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/pool.h"
#include "http/exchange.h"
#include "modules/mysql/body_gatherer.h"
#include "modules/mysql/operation_runner.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_answer.h"
#include "modules/mysql/read_request.h"
#include "modules/mysql/write_handler.h"
#include "modules/mysql/write_request.h"
#include "tables/write.h"

namespace roost::modules::mysql {
namespace {

using http::Method;
using tables::Problem;

tables::Methods actionOf(Method method) noexcept {
  switch (method) {
    case Method::kPatch:
      return tables::kUpdate;
    case Method::kPut:
      return tables::kUpsert;
    case Method::kDelete:
      return tables::kDelete;
    default:
      return tables::kInsert;
  }
}

// What a request says before its body has come.
struct WriteJob {
  tables::Query query;
  tables::WriteOptions options;
  tables::BodyFormat format = tables::BodyFormat::kJson;
  Form form;
  std::string_view method;
};

// Gathers a body, writes, answers. Owned by its exchange; loop thread.
class WriteWork final : public http::ExchangeListener, private OperationsDone {
 public:
  WriteWork(http::Exchange& exchange, WriteSite site, const tables::ExposedTable& table, WriteJob job,
            std::unique_ptr<RowTags> tags)
      : exchange_(exchange),
        site_(std::move(site)),
        table_(table),
        job_(std::move(job)),
        preferences_(job_.options.preferences),
        tags_(std::move(tags)),
        body_(exchange, site_.max_body_bytes) {}

  // `takes_body`: it is waited for. Otherwise there is none, or it means nothing.
  void start(bool takes_body) noexcept {
    takes_body_ = takes_body;
    if (!takes_body_) begin();
  }

  void onBody(std::string_view piece, bool fin) noexcept override {
    if (!takes_body_ || runner_ || refused_) return exchange_.consumed(piece.size());
    if (!body_.add(piece)) return refuse(bodyTooLarge(site_.max_body_bytes));
    if (fin) return begin();
    exchange_.consumed(piece.size());
  }
  void onAbort(http::AbortReason) noexcept override {
    if (runner_) site_.pool->cancel(*runner_);
  }

 private:
  void begin() noexcept;
  void refuse(const Problem& problem, const ProblemExtra& extra = {}) noexcept {
    refused_ = true;
    replyProblem(exchange_, problem, extra);
  }
  void onOperationsDone() noexcept override;
  void onOperationFailed(size_t, const Problem& problem, uint32_t retry_after_s) noexcept override;

  http::Exchange& exchange_;
  const WriteSite site_;
  const tables::ExposedTable& table_;
  WriteJob job_;
  const tables::Preferences preferences_;
  const std::unique_ptr<RowTags> tags_;
  BodyGatherer body_;
  bool takes_body_ = false;
  bool refused_ = false;
  std::optional<OperationRunner> runner_;
};

void WriteWork::begin() noexcept {
  Problem problem;
  tables::Body body;
  if (takes_body_) {
    tables::BodyOptions options;
    options.columns = &job_.query.columns;
    options.max_rows = site_.exposure->config->limits.max_body_rows;
    options.time_zone = site_.exposure->catalog->time_zone;
    options.missing_is_null = preferences_.missing == tables::Preferences::Missing::kNull;
    if (!tables::readBody(body_.text(), job_.format, table_, options, body, problem)) return refuse(problem);
    body_.drop();
  }
  std::unique_ptr<tables::Operation> operation = tables::planWrite(
      table_, *site_.exposure, std::move(job_.query), std::move(job_.options), std::move(body), problem);
  if (operation == nullptr) return refuse(problem);
  std::vector<std::unique_ptr<tables::Operation>> operations;
  operations.push_back(std::move(operation));
  runner_.emplace(std::move(operations), preferences_.rollback, static_cast<OperationsDone&>(*this));
  site_.pool->request(*runner_);
}

void WriteWork::onOperationsDone() noexcept {
  tables::OperationResult& result = runner_->operations()[0]->result();
  if (!runner_->rollsBack()) publishWrite(site_.shard, table_, job_.method, result);
  http::ResponseHead head(result.status);
  if (result.has_body) head.add("Content-Type", job_.form.content_type);
  if (!result.location.empty()) head.add("Location", result.location);
  head.add("Content-Range", result.content_range);
  head.add("Range-Unit", "items");
  head.add("Cache-Control", "no-store");
  const std::string applied = tables::appliedPreferences(preferences_, true);
  if (!applied.empty()) head.add("Preference-Applied", applied);
  if (result.status == 204) return exchange_.begin(head, true);
  const std::string body = std::move(result.body);
  exchange_.reply(head, body);
}

void WriteWork::onOperationFailed(size_t, const Problem& problem, uint32_t retry_after_s) noexcept {
  if (problem.code == "schema_changed" && site_.alarm != nullptr) site_.alarm->onSchemaChanged();
  ProblemExtra extra;
  extra.retry_after_s = retry_after_s;
  const std::string details =
      fmt::format("The result contains {} rows", runner_->operations()[0]->result().rows);
  if (problem.code == "PGRST116") extra.details = details;
  refuse(problem, extra);
}

bool readJob(const http::Exchange& exchange, const WriteSite& site, WriteJob& job, RowTags& tags,
             Problem& problem) {
  const http::RequestHead& head = exchange.request();
  if (!chooseForm(head, job.form)) {
    problem = notAcceptable();
    return false;
  }
  if (!readPrefer(head, job.options.preferences, problem)) return false;
  if (!tables::parseQuery(exchange.query(), site.exposure->config->limits, job.query, problem)) return false;
  job.options.method = actionOf(exchange.method());
  job.options.format = job.form.format;
  job.options.single = job.form.single;
  job.options.base = site.base;
  job.method = http::methodName(exchange.method());
  if (!readConditions(head, tags, job.options, problem)) return false;
  if (job.options.method == tables::kDelete) return true;
  return bodyFormat(head.get(http::FieldId::kContentType), job.format, problem);
}

}  // namespace

void startWrite(http::Exchange& exchange, WriteSite site, const tables::ExposedTable& table) noexcept {
  Problem problem;
  WriteJob job;
  auto tags = std::make_unique<RowTags>();
  if (!readJob(exchange, site, job, *tags, problem)) return replyProblem(exchange, problem);
  const bool takes_body = job.options.method != tables::kDelete;
  if (takes_body && !exchange.hasBody())
    return replyProblem(exchange, {400, "bad_body", "there is no body", {}, {}});
  if (takes_body && announcedBytes(exchange.request()) > int64_t{site.max_body_bytes})
    return replyProblem(exchange, bodyTooLarge(site.max_body_bytes));
  auto work = std::make_unique<WriteWork>(exchange, std::move(site), table, std::move(job), std::move(tags));
  WriteWork& starts = *work;
  exchange.listen(std::move(work));
  starts.start(takes_body);
}

}  // namespace roost::modules::mysql
