#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/memory.h"
#include "db/pool.h"
#include "event/task.h"
#include "http/exchange.h"
#include "modules/mysql/batch_plan.h"
#include "modules/mysql/body_gatherer.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_answer.h"
#include "modules/mysql/write_handler.h"
#include "modules/mysql/write_request.h"
#include "modules/mysql/write_run.h"
#include "tables/output.h"

namespace roost::modules::mysql {
namespace {

using tables::Problem;

BatchPlan planWithin(BatchRequest& request) noexcept {
  BatchPlan plan;
  if (memory::forPeer([&] { plan = planBatch(request); })) return plan;
  plan = {};
  plan.problem = noMemory();
  return plan;
}

// One transaction of many operations. Owned by its exchange; loop thread.
class BatchWork final : public http::ExchangeListener, private OperationsDone {
 public:
  BatchWork(http::Exchange& exchange, WriteSite site, bool rolls_back)
      : exchange_(exchange),
        site_(std::move(site)),
        rolls_back_(rolls_back),
        lease_(site_.bodies),
        body_(site_.max_body_bytes, lease_) {}

  void onBody(std::string_view piece, bool fin) noexcept override {
    if (complete_ || refused_) return exchange_.consumed(piece.size());
    if (Problem problem; !body_.add(piece, problem)) return refuse(problem);
    if (!fin) return exchange_.consumed(piece.size());
    complete_ = true;
    const auto request = std::make_shared<BatchRequest>(
        BatchRequest{site_.exposure, site_.base, body_.take(), std::move(lease_)});
    if (request->text.size() <= kMostBytesOnLoop || !planElsewhere(request)) begin(planWithin(*request));
  }
  void onAbort(http::AbortReason) noexcept override { run_.reset(); }

 private:
  bool planElsewhere(std::shared_ptr<BatchRequest> request) noexcept;
  void begin(BatchPlan plan) noexcept;
  void refuse(const Problem& problem, const ProblemExtra& extra = {}) noexcept {
    refused_ = true;
    replyProblem(exchange_, problem, extra);
  }
  void onOperationsDone() noexcept override;
  void onOperationFailed(size_t index, const Problem& problem, uint32_t retry_after_s) noexcept override;

  http::Exchange& exchange_;
  const WriteSite site_;
  const bool rolls_back_;
  tables::BodyLease lease_;
  BodyGatherer body_;
  size_t count_ = 0;  // of its operations
  bool complete_ = false;
  bool refused_ = false;
  WriteRunPtr run_;
};

// False where there is no thread for it.
bool BatchWork::planElsewhere(std::shared_ptr<BatchRequest> request) noexcept {
  std::unique_ptr<event::Task> task =
      event::makeTask([request = std::move(request), name = exchange_.handle()] {
        auto plan = std::make_unique<BatchPlan>(planWithin(*request));
        name.post([plan = std::move(plan)](http::Exchange& exchange) {
          static_cast<BatchWork&>(*exchange.listener()).begin(std::move(*plan));
        });
      });
  return exchange_.context().tasks().submit(task);
}

void BatchWork::begin(BatchPlan plan) noexcept {
  if (!plan.is_good) return refuse(plan.problem);
  count_ = plan.entries.size();
  WritePlan writes;
  writes.operations = std::move(plan.operations);
  for (BatchEntry& entry : plan.entries) writes.methods.push_back(std::move(entry.method));
  writes.tags = std::move(plan.tags);
  writes.rolls_back = rolls_back_;
  writes.lease = std::move(plan.lease);
  writes.most_bytes = site_.exposure->config->limits.max_batch_bytes;
  WriteRun::start(site_, std::move(writes), *this, run_);
}

// What stands before its body, or its end where it has none.
std::string headOf(const tables::OperationResult& result) {
  std::string out = fmt::format("{{\"status\":{},\"headers\":{{", result.status);
  if (!result.location.empty()) {
    out += "\"Location\":";
    tables::appendJsonString(result.location, out);
    out += ',';
  }
  out += "\"Content-Range\":";
  tables::appendJsonString(result.content_range, out);
  out += result.has_body ? "},\"body\":" : "}";
  return out;
}

// All of them, in order; empty where there is no memory for it. Each body is given up once it stands there:
// together they may be large.
BufferRef takeResults(const std::vector<std::unique_ptr<tables::Operation>>& operations) {
  std::vector<std::string> heads;
  size_t size = 2;
  for (const auto& operation : operations) {
    heads.push_back((heads.empty() ? "" : ",") + headOf(operation->result()));
    size += heads.back().size() + operation->result().body.size() + 1;
  }
  BufferRef made = BufferRef::allocateForPeer(size);
  if (!made) return made;
  char* to = made.mutableData();
  *to++ = '[';
  for (size_t i = 0; i < operations.size(); ++i) {
    const std::string body = std::move(operations[i]->result().body);
    to = std::copy(heads[i].begin(), heads[i].end(), to);
    to = std::copy(body.begin(), body.end(), to);
    *to++ = '}';
  }
  *to = ']';
  return made;
}

void BatchWork::onOperationsDone() noexcept {
  http::ResponseHead head(200);
  head.add("Content-Type", "application/json");
  head.add("Cache-Control", "no-store");
  if (rolls_back_) head.add("Preference-Applied", "tx=rollback");
  BufferRef results = takeResults(run_->operations());
  if (!results) return refuse(noMemoryForAnswer(true));
  replyShared(exchange_, head, std::move(results));
}

void BatchWork::onOperationFailed(size_t index, const Problem& problem, uint32_t retry_after_s) noexcept {
  if (problem.code == "schema_changed" && site_.alarm != nullptr) site_.alarm->onSchemaChanged();
  ProblemExtra extra;
  extra.retry_after_s = retry_after_s;
  Problem told = problem;
  const std::string details = fmt::format("operation {} of {}", index + 1, count_);
  if (index < count_) {
    nameOperation(index, told);
    extra.details = details;
  }
  refuse(told, extra);
}

}  // namespace

void startBatch(http::Exchange& exchange, WriteSite site) noexcept {
  Problem problem;
  tables::Preferences preferences;
  tables::BodyFormat format = tables::BodyFormat::kJson;
  const http::RequestHead& head = exchange.request();
  if (!readPrefer(head, preferences, problem)) return replyProblem(exchange, problem);
  if (!exchange.hasBody())
    return replyProblem(exchange, {400, "bad_body", "a batch is an array in JSON", {}, {}});
  if (!bodyFormat(head.get(http::FieldId::kContentType), format, problem))
    return replyProblem(exchange, problem);
  if (format != tables::BodyFormat::kJson) {
    constexpr std::string_view kHint = "Content-Type: application/json";
    return replyProblem(
        exchange, {415, "unsupported_media_type", "a batch is an array in JSON", std::string(kHint), {}});
  }
  if (announcedBytes(head) > int64_t{site.max_body_bytes})
    return replyProblem(exchange, bodyTooLarge(site.max_body_bytes));
  exchange.endWithPeer();
  exchange.listen(std::make_unique<BatchWork>(exchange, std::move(site), preferences.rollback));
}

}  // namespace roost::modules::mysql
