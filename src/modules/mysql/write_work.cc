#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "db/pool.h"
#include "event/task.h"
#include "http/exchange.h"
#include "modules/mysql/body_gatherer.h"
#include "modules/mysql/problem_reply.h"
#include "modules/mysql/read_answer.h"
#include "modules/mysql/read_request.h"
#include "modules/mysql/represented_write.h"
#include "modules/mysql/write_handler.h"
#include "modules/mysql/write_request.h"
#include "modules/mysql/write_run.h"
#include "tables/write.h"

namespace roost::modules::mysql {
namespace {

using tables::Problem;

// A request as it has come, up to what it means to the database. Refers to nothing but the exposure that it
// keeps, and so any thread may make a plan of it.
struct WriteRequest {
  std::shared_ptr<const tables::Exposure> exposure;
  const tables::ExposedTable* table = nullptr;
  tables::Query query;
  tables::WriteOptions options;
  bool takes_body = false;
  tables::BodyFormat format = tables::BodyFormat::kJson;
  std::string text;
  tables::BodyLease lease;  // of the text, and then of what is made of it
};

struct Planned {
  std::unique_ptr<tables::Operation> operation;  // nullptr: `problem`
  tables::BodyLease lease;
  Problem problem;
};

Planned plan(WriteRequest& request) {
  Planned planned;
  tables::Body body;
  if (request.takes_body) {
    const tables::BodyOptions options =
        tables::bodyOptions(*request.exposure, request.query, request.options, request.lease);
    if (!tables::readBody(request.text, request.format, *request.table, options, body, planned.problem))
      return planned;
    request.lease.give(request.text.capacity());
    request.text = {};
  }
  planned.lease = std::move(request.lease);
  planned.operation = planAnyWrite(*request.table, *request.exposure, std::move(request.query),
                                   std::move(request.options), std::move(body), planned.problem);
  return planned;
}

Planned planWithin(WriteRequest& request) noexcept {
  Planned planned;
  if (memory::forPeer([&] { planned = plan(request); })) return planned;
  planned = {};
  planned.problem = noMemory();
  return planned;
}

// Gathers a body, writes, answers. Owned by its exchange; loop thread.
class WriteWork final : public http::ExchangeListener, private OperationsDone {
 public:
  WriteWork(http::Exchange& exchange, WriteSite site, WriteRequest request, const Form& form,
            std::unique_ptr<RowTags> tags)
      : exchange_(exchange),
        site_(std::move(site)),
        method_(http::methodName(exchange.method())),
        form_(form),
        preferences_(request.options.preferences),
        tags_(std::move(tags)),
        request_(std::make_unique<WriteRequest>(std::move(request))),
        body_(site_.max_body_bytes, request_->lease) {}

  // Where there is no body to wait for, or it means nothing.
  void start() noexcept {
    if (!request_->takes_body) begin(planWithin(*request_));
  }

  void onBody(std::string_view piece, bool fin) noexcept override {
    if (refused_ || complete_ || !request_->takes_body) return exchange_.consumed(piece.size());
    if (Problem problem; !body_.add(piece, problem)) return refuse(problem);
    if (!fin) return exchange_.consumed(piece.size());
    complete_ = true;
    request_->text = body_.take();
    if (request_->text.size() <= kMostBytesOnLoop || !planElsewhere()) begin(planWithin(*request_));
  }
  void onAbort(http::AbortReason) noexcept override { run_.reset(); }

 private:
  bool planElsewhere() noexcept;
  void begin(Planned planned) noexcept;
  void refuse(const Problem& problem, const ProblemExtra& extra = {}) noexcept {
    refused_ = true;
    replyProblem(exchange_, problem, extra);
  }
  void onOperationsDone() noexcept override;
  void onOperationFailed(size_t, const Problem& problem, uint32_t retry_after_s) noexcept override;

  http::Exchange& exchange_;
  const WriteSite site_;
  const std::string_view method_;
  const Form form_;
  const tables::Preferences preferences_;
  std::unique_ptr<RowTags> tags_;
  std::shared_ptr<WriteRequest> request_;
  BodyGatherer body_;
  bool complete_ = false;
  bool refused_ = false;
  WriteRunPtr run_;
};

// False where there is no thread for it.
bool WriteWork::planElsewhere() noexcept {
  std::unique_ptr<event::Task> task = event::makeTask([request = request_, name = exchange_.handle()] {
    auto planned = std::make_unique<Planned>(planWithin(*request));
    name.post([planned = std::move(planned)](http::Exchange& exchange) {
      static_cast<WriteWork&>(*exchange.listener()).begin(std::move(*planned));
    });
  });
  return exchange_.context().tasks().submit(task);
}

void WriteWork::begin(Planned planned) noexcept {
  if (planned.operation == nullptr) return refuse(planned.problem);
  WritePlan writes;
  writes.operations.push_back(std::move(planned.operation));
  writes.methods.emplace_back(method_);
  writes.tags.push_back(std::move(tags_));
  writes.rolls_back = preferences_.rollback;
  writes.lease = std::move(planned.lease);
  WriteRun::start(site_, std::move(writes), *this, run_);
}

void WriteWork::onOperationsDone() noexcept {
  tables::OperationResult& result = run_->operations()[0]->result();
  http::ResponseHead head(result.status);
  if (result.has_body) head.add("Content-Type", form_.content_type);
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
      fmt::format("The result contains {} rows", run_->operations()[0]->result().rows);
  if (problem.code == "PGRST116") extra.details = details;
  refuse(problem, extra);
}

bool read(const http::Exchange& exchange, const WriteSite& site, WriteRequest& request, Form& form,
          RowTags& tags, Problem& problem) {
  const http::RequestHead& head = exchange.request();
  tables::WriteOptions& options = request.options;
  if (!chooseForm(head, form)) {
    problem = notAcceptable();
    return false;
  }
  if (!readPrefer(head, options.preferences, problem)) return false;
  if (!tables::parseQuery(exchange.query(), site.exposure->config->limits, request.query, problem))
    return false;
  options.method = static_cast<tables::Methods>(actionOf(exchange.method()));
  options.format = form.format;
  options.single = form.single;
  options.base = site.base;
  request.takes_body = options.method != tables::kDelete;
  if (!readConditions(head, tags, options, problem)) return false;
  if (!request.takes_body) return true;
  if (!exchange.hasBody()) {
    problem = {400, "bad_body", "there is no body", {}, {}};
    return false;
  }
  if (announcedBytes(head) > int64_t{site.max_body_bytes}) {
    problem = bodyTooLarge(site.max_body_bytes);
    return false;
  }
  return bodyFormat(head.get(http::FieldId::kContentType), request.format, problem);
}

}  // namespace

void startWrite(http::Exchange& exchange, WriteSite site, const tables::ExposedTable& table) noexcept {
  Problem problem;
  Form form;
  WriteRequest request;
  auto tags = std::make_unique<RowTags>();
  request.exposure = site.exposure;
  request.table = &table;
  request.lease = tables::BodyLease(site.bodies);
  if (!read(exchange, site, request, form, *tags, problem)) return replyProblem(exchange, problem);
  auto work =
      std::make_unique<WriteWork>(exchange, std::move(site), std::move(request), form, std::move(tags));
  WriteWork& starts = *work;
  exchange.endWithPeer();
  exchange.listen(std::move(work));
  starts.start();
}

}  // namespace roost::modules::mysql
