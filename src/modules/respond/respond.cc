#include "modules/respond/respond.h"

#include <fmt/format.h>

#include <mutex>
#include <string>
#include <utility>

#include "http/ascii.h"
#include "http/exchange.h"
#include "http/template.h"

namespace roost::embedded {
extern const std::string_view respond_schema;
}

namespace roost::modules::respond {
namespace {

struct Answer {
  int status;
  bool has_body;
  std::string content_type;
  std::string server_header;
  http::Template body;
};

// RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5.
bool isWithoutContent(int status) noexcept {
  return status == 204 || status == 205 || status == 304;
}

http::Escape escapeFor(std::string_view content_type) noexcept {
  std::string lower(content_type);
  for (char& c : lower) c = http::lowerAscii(c);
  const auto names = [&lower](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (names("javascript") || names("ecmascript")) return http::Escape::kScript;
  if (names("json")) return http::Escape::kJson;
  return names("html") || names("xml") ? http::Escape::kHtml : http::Escape::kNone;
}

// A body without variables is made ready once per loop. Where head filters may look at the path, for the path
// that was asked for last: nearly always it is the one of the route.
class RespondHandler final : public http::Handler {
 public:
  // `loops` is said before the first of them runs.
  RespondHandler(Answer answer, const size_t& loops) : answer_(std::move(answer)), loops_(loops) {}

  void handle(http::Exchange& exchange) const noexcept override {
    if (exchange.trace() != nullptr) {
      exchange.trace()->note(fmt::format("answers {} with what the configuration says", answer_.status));
    }
    if (!answer_.has_body && answer_.status >= 400) return exchange.replyError(answer_.status);
    if (answer_.has_body && answer_.body.isLiteral() && exchange.mayReplyPrepared()) {
      return exchange.reply(prepared(exchange));
    }
    http::ResponseHead head(answer_.status);
    if (isWithoutContent(answer_.status)) return exchange.begin(head, true);
    if (!answer_.has_body) return exchange.reply(head, {});
    head.add("Content-Type", answer_.content_type);
    std::string body;
    answer_.body.append(body, exchange);
    exchange.reply(head, body);
  }

 private:
  // Of one loop, on a cache line of its own.
  struct alignas(64) Ready {
    http::PreparedResponse response;
    std::string path;
  };

  http::PreparedResponse& prepared(http::Exchange& exchange) const {
    std::call_once(made_, [this] { ready_ = std::make_unique<Ready[]>(loops_); });
    Ready& ready = ready_[exchange.context().index()];
    const bool by_path = !exchange.route().head_filters.empty();
    if (!ready.response || (by_path && ready.path != exchange.path())) {
      http::ResponseHead head(answer_.status);
      head.add("Content-Type", answer_.content_type);
      exchange.route().filterHead(exchange.path(), head);
      ready.response = http::PreparedResponse(head, answer_.body.text(), answer_.server_header);
      ready.path = exchange.path();
    }
    return ready.response;
  }

  const Answer answer_;
  const size_t& loops_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<Ready[]> ready_;  // by loop; each touches its own only
};

class Respond final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"respond", embedded::respond_schema, true};
  }
  Status start(const module::StartContext& context) override {
    loops_ = context.loop_count;
    return {};
  }
  Result<module::RouteParts> build(config::Node options, const module::RouteContext& context) override;

 private:
  size_t loops_ = 0;
};

Result<module::RouteParts> Respond::build(config::Node options, const module::RouteContext& context) {
  Answer answer;
  answer.status = static_cast<int>(options["status"].asInt());
  answer.has_body = options["body"].isString();
  answer.content_type = options["content_type"].asString();
  answer.server_header = std::string(context.server_header);
  if (answer.has_body && isWithoutContent(answer.status)) {
    return Status::error(
        fmt::format("an answer with status {} has no content, and so no \"body\"", answer.status));
  }
  Result<http::Template> body = http::Template::compile(options["body"].asString(), context.param_names,
                                                        escapeFor(answer.content_type));
  if (!body.ok()) return Status::error("body: " + body.status().message());
  answer.body = std::move(body).value();
  module::RouteParts parts;
  parts.handler = std::make_unique<RespondHandler>(std::move(answer), loops_);
  return parts;
}

}  // namespace

std::unique_ptr<module::Module> makeRespond() {
  return std::make_unique<Respond>();
}

}  // namespace roost::modules::respond
