#include "modules/metrics_page/metrics_page.h"

#include <string>
#include <utility>

#include "http/accept.h"
#include "http/exchange.h"
#include "log/log.h"
#include "modules/metrics_page/exposition.h"

namespace roost::embedded {
extern const std::string_view metrics_page_schema;
}

namespace roost::modules::metrics_page {
namespace {

// What there is to read; set before the loops run.
struct Sources {
  const metrics::Registry* metrics = nullptr;
  const push::Hub* hub = nullptr;
};

std::string gather(const Sources& sources, Format format) {
  Exposition exposition(format);
  if (sources.metrics != nullptr) {
    sources.metrics->forEach(
        [&exposition](const metrics::Registry::Reading& reading) { exposition.add(reading); });
  }
  if (sources.hub != nullptr) exposition.add(sources.hub->numbers());
  exposition.add(log::stats());
  return exposition.finish();
}

// Adding up the shards of all loops takes a while where there are many: a task thread does it.
class MetricsHandler final : public http::Handler {
 public:
  explicit MetricsHandler(const Sources& sources) noexcept : sources_(sources) {}

  void handle(http::Exchange& exchange) const noexcept override {
    const http::Method method = exchange.method();
    if (method != http::Method::kGet && method != http::Method::kHead) {
      http::ResponseHead head(method == http::Method::kOptions ? 204 : 405);
      head.add("Allow", "GET, HEAD, OPTIONS");
      if (method == http::Method::kOptions) return exchange.begin(head, true);
      return exchange.replyError(405, &head);
    }
    std::unique_ptr<event::Task> task =
        event::makeTask([&sources = sources_, format = formatFor(exchange), name = exchange.handle()] {
          auto head = std::make_unique<http::ResponseHead>(200);
          head->add("Content-Type", contentType(format));
          head->add("Cache-Control", "no-store");
          name.reply(std::move(head), BufferRef::copyOf(gather(sources, format)));
        });
    if (!exchange.context().tasks().submit(task)) task->run();
  }

 private:
  static Format formatFor(const http::Exchange& exchange) noexcept {
    const http::RequestHead& request = exchange.request();
    const int open = http::qualityOf(request, "application/openmetrics-text");
    return open > http::qualityOf(request, "text/plain") ? Format::kOpenMetrics : Format::kText;
  }

  const Sources& sources_;
};

class MetricsPage final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"metrics", embedded::metrics_page_schema, true};
  }
  Status start(const module::StartContext& context) override {
    sources_ = {context.metrics, context.hub};
    return {};
  }
  Result<module::RouteParts> build(config::Node, const module::RouteContext&) override {
    module::RouteParts parts;
    parts.handler = std::make_unique<MetricsHandler>(sources_);
    return parts;
  }

 private:
  Sources sources_;
};

}  // namespace

std::unique_ptr<module::Module> makeMetricsPage() {
  return std::make_unique<MetricsPage>();
}

}  // namespace roost::modules::metrics_page
