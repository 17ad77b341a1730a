#include "modules/access_log/access_log.h"

#include <string>
#include <utility>

#include "http/exchange.h"
#include "log/log.h"
#include "log/stream.h"
#include "modules/access_log/line_format.h"
#include "modules/access_log/selection.h"

namespace roost::embedded {
extern const std::string_view access_log_schema;
}

namespace roost::modules::access_log {
namespace {

// What one place of the key asks for. Shared by its observer and by the exchanges that have parked, which
// outlive it.
struct Target {
  std::shared_ptr<log::Stream> stream;
  TextList texts;
  Selection selection;

  void write(const Record& record) const noexcept {
    stream->write(record.bytes(), [&record](char* to) { record.copyTo(to); });
  }
};

class ParkedLog final : public http::ParkedObserver {
 public:
  ParkedLog(std::shared_ptr<const Target> target, const Record& record, uint64_t lot)
      : target_(std::move(target)), lot_(lot), bytes_(record.bytes()), record_(new char[record.bytes()]) {
    record.copyTo(record_.get());
  }
  void onEnd(const http::Outcome& outcome) noexcept override {
    RecordHead head;
    std::memcpy(&head, record_.get(), sizeof head);
    Record::setOutcome(head, outcome);
    std::memcpy(record_.get(), &head, sizeof head);
    if (!target_->selection.wants(head.status, lot_)) return;
    target_->stream->write(bytes_, [this](char* to) { std::memcpy(to, record_.get(), bytes_); });
  }

 private:
  const std::shared_ptr<const Target> target_;
  const uint64_t lot_;
  const size_t bytes_;
  const std::unique_ptr<char[]> record_;
};

class AccessLog final : public http::ExchangeObserver {
 public:
  explicit AccessLog(std::shared_ptr<const Target> target) noexcept : target_(std::move(target)) {}

  void onEnd(const http::Exchange& exchange, const http::Outcome& outcome) const noexcept override {
    if (!target_->selection.wants(Record::statusOf(outcome), lotOf(exchange))) return;
    Record record(target_->texts, exchange);
    record.setOutcome(outcome);
    target_->write(record);
  }
  std::unique_ptr<http::ParkedObserver> onPark(const http::Exchange& exchange) const noexcept override {
    return std::make_unique<ParkedLog>(target_, Record(target_->texts, exchange), lotOf(exchange));
  }
  void onUnrouted(const http::UnroutedRequest& request,
                  const http::Outcome& outcome) const noexcept override {
    std::array<char, 32> id;
    request.context.nextRequestId(id);
    const std::string_view request_id(id.data(), id.size());
    if (!target_->selection.wants(outcome.status, Selection::lotOf(request_id))) return;
    Record record(target_->texts, request, request_id);
    record.setOutcome(outcome);
    target_->write(record);
  }

 private:
  uint64_t lotOf(const http::Exchange& exchange) const noexcept {
    return target_->selection.needsLot() ? Selection::lotOf(exchange.requestId()) : 0;
  }

  const std::shared_ptr<const Target> target_;
};

Selection selectionOf(config::Node node) {
  Selection selection(node["sample"].asDouble());
  const config::Node only = node["only"], always = node["always"];
  if (only.size() != 0) selection.setAll(Selection::Rule::kNever);
  for (size_t i = 0; i < only.size(); ++i) selection.set(only.at(i).asString(), Selection::Rule::kSample);
  for (size_t i = 0; i < always.size(); ++i) selection.set(always.at(i).asString(), Selection::Rule::kAlways);
  return selection;
}

Result<LineFormat> formatOf(config::Node node) {
  const std::string& format = node["format"].asString();
  if (format == "combined") return LineFormat::combined();
  if (format == "json") return LineFormat::json();
  if (format.find('{') == std::string::npos) {
    return Status::error("format \"" + format +
                         "\" is neither \"combined\" nor \"json\", nor has it a variable in braces");
  }
  auto made = LineFormat::compile(format, node["escape"].asString() == "json" ? Escape::kJson : Escape::kHex);
  if (!made.ok()) return Status::error("format: " + made.status().message());
  return made;
}

log::StreamOptions streamOptions(config::Node node) {
  log::StreamOptions options;
  options.path = node["path"].asString();
  options.roll_size_bytes = static_cast<uint64_t>(node["roll_size"].asInt());
  options.roll_daily = node["roll_daily"].asBool();
  options.flush_second = static_cast<int>(node["flush_second"].asInt());
  options.on_full = node["on_full"].asString() == "block" ? log::OnFull::kBlock : log::OnFull::kDrop;
  options.keep_files = static_cast<int>(node["keep_files"].asInt());
  return options;
}

class AccessLogModule final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"access_log", embedded::access_log_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override;
};

Result<module::RouteParts> AccessLogModule::build(config::Node node, const module::RouteContext& context) {
  const log::StreamOptions options = streamOptions(node);
  if (Status status = log::checkFile(options.path); !status.ok()) return status;
  const config::Node own = context.root["log"];
  const std::string folder = own["path"].asString();
  if (!folder.empty()) {
    std::string own_path = folder;
    if (own_path.back() != '/') own_path += '/';
    own_path += own["base_name"].asString() + ".log";
    if (own_path == options.path)
      return Status::error("\"" + options.path + "\" is the server's own log (log.path, log.base_name)");
  }
  Result<LineFormat> format = formatOf(node);
  if (!format.ok()) return format.status();
  const TextList texts = format->texts();
  auto stream = log::Stream::open(options, std::make_unique<LineWriter>(std::move(format).value()));
  if (!stream.ok()) return stream.status();
  auto target = std::make_shared<const Target>(Target{std::move(stream).value(), texts, selectionOf(node)});
  module::RouteParts parts;
  parts.observers.push_back(std::make_shared<AccessLog>(std::move(target)));
  return parts;
}

}  // namespace

std::unique_ptr<module::Module> makeAccessLog() {
  return std::make_unique<AccessLogModule>();
}

}  // namespace roost::modules::access_log
