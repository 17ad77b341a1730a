#include "modules/push/push.h"

#include <string>
#include <string_view>
#include <utility>

#include "http/exchange.h"
#include "modules/push/publish_handler.h"
#include "modules/push/publish_options.h"
#include "modules/push/publisher.h"
#include "modules/push/runtime.h"
#include "modules/push/subscribe.h"

namespace roost::embedded {
extern const std::string_view push_publish_schema;
extern const std::string_view push_publish_properties;
extern const std::string_view push_subscribe_schema;
extern const std::string_view push_subscribe_properties;
extern const std::string_view push_pubsub_schema;
}  // namespace roost::embedded

namespace roost::modules::push {
namespace {

// Puts the members of `part`, an object, where `mark` stands for them.
void splice(std::string& text, std::string_view mark, std::string_view part) {
  const size_t first = part.find('{') + 1;
  const std::string_view members = part.substr(first, part.rfind('}') - first);
  const std::string stands = "\"" + std::string(mark) + "\": {}";
  for (size_t at = text.find(stands); at != std::string::npos; at = text.find(stands, at + members.size()))
    text.replace(at, stands.size(), members);
}

// What the three have in common.
class PushModule : public module::Module {
 public:
  PushModule(std::string key, std::string_view schema, std::shared_ptr<Runtime> runtime)
      : key_(std::move(key)), schema_(schema), runtime_(std::move(runtime)) {
    splice(schema_, "@publish", embedded::push_publish_properties);
    splice(schema_, "@subscribe", embedded::push_subscribe_properties);
  }

  // What waits for the start refers to the Runtime again.
  ~PushModule() override { runtime_->forget(); }

  config::SchemaFragment schema() const noexcept override { return {key_, schema_, true}; }
  bool usesPush() const noexcept override { return used_; }
  Status start(const module::StartContext& context) override { return runtime_->start(context); }
  void stop() noexcept override { runtime_->stop(); }

 protected:
  const std::shared_ptr<Runtime>& runtime() noexcept {
    used_ = true;
    return runtime_;
  }

 private:
  const std::string key_;
  std::string schema_;
  const std::shared_ptr<Runtime> runtime_;
  bool used_ = false;
};

// A subscriber's handler needs the hub, and so is made when the server starts.
class SubscribeRoute final : public http::Handler {
 public:
  void handle(http::Exchange& exchange) const noexcept override { (*made_)->handle(exchange); }

  // Main thread, before the loops run.
  using Made = std::shared_ptr<std::unique_ptr<const http::Handler>>;
  const Made& made() const noexcept { return made_; }

 private:
  const Made made_ = std::make_shared<std::unique_ptr<const http::Handler>>();
};

// GET and HEAD go one way, all else the other.
class PubsubHandler final : public http::Handler {
 public:
  PubsubHandler(std::unique_ptr<const http::Handler> subscribe, std::unique_ptr<const http::Handler> publish)
      : subscribe_(std::move(subscribe)), publish_(std::move(publish)) {}
  void handle(http::Exchange& exchange) const noexcept override {
    const http::Method method = exchange.method();
    const bool subscribes = method == http::Method::kGet || method == http::Method::kHead;
    (subscribes ? subscribe_ : publish_)->handle(exchange);
  }

 private:
  const std::unique_ptr<const http::Handler> subscribe_;
  const std::unique_ptr<const http::Handler> publish_;
};

Result<std::unique_ptr<const http::Handler>> subscribeRoute(config::Node node, const std::string& channel,
                                                            const module::RouteContext& context,
                                                            std::shared_ptr<const Publisher> publisher,
                                                            Runtime& runtime) {
  Result<SubscribeOptions> read = SubscribeOptions::fromConfig(node, channel, context.param_names);
  if (!read.ok()) return read.status();
  read.value().publisher = std::move(publisher);
  auto route = std::make_unique<SubscribeRoute>();
  const auto make = [made = route->made(), options = std::move(read).value(), &runtime,
                     server_header = std::string(context.server_header), path = std::string(context.path)](
                        metrics::Registry& metrics, size_t loop_count) -> Status {
    auto handler = makeSubscribeHandler(
        options, {runtime.hub(), metrics, loop_count, runtime.places(), server_header, path});
    if (!handler.ok()) return handler.status();
    *made = std::move(handler).value();
    return {};
  };
  Status status = runtime.whenStarted(make);
  if (!status.ok()) return status;
  return std::unique_ptr<const http::Handler>(std::move(route));
}

class PushPublish final : public PushModule {
 public:
  explicit PushPublish(std::shared_ptr<Runtime> runtime)
      : PushModule("push_publish", embedded::push_publish_schema, std::move(runtime)) {}
  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override {
    Result<ChannelTemplate> channel =
        ChannelTemplate::compile(node["channel"].asString(), context.param_names);
    if (!channel.ok()) return Status::error("channel: " + channel.status().message());
    auto publisher = Publisher::make(PublishOptions::fromConfig(node), context.path, *runtime());
    if (!publisher.ok()) return publisher.status();
    module::RouteParts parts;
    parts.handler = std::make_unique<PublishHandler>(std::move(channel).value(), std::move(publisher).value(),
                                                     BatchOptions::fromConfig(node["batch"]));
    return parts;
  }
};

class PushSubscribe final : public PushModule {
 public:
  explicit PushSubscribe(std::shared_ptr<Runtime> runtime)
      : PushModule("push_subscribe", embedded::push_subscribe_schema, std::move(runtime)) {}
  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override {
    std::shared_ptr<const Publisher> publisher;
    const config::Node publish = node["publish"];
    if (publish.isObject()) {
      auto made = Publisher::make(PublishOptions::fromConfig(publish), context.path, *runtime());
      if (!made.ok()) return made.status();
      publisher = std::move(made).value();
    }
    auto handler =
        subscribeRoute(node, node["channel"].asString(), context, std::move(publisher), *runtime());
    if (!handler.ok()) return handler.status();
    module::RouteParts parts;
    parts.handler = std::move(handler).value();
    return parts;
  }
};

class PushPubsub final : public PushModule {
 public:
  explicit PushPubsub(std::shared_ptr<Runtime> runtime)
      : PushModule("push_pubsub", embedded::push_pubsub_schema, std::move(runtime)) {}
  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override {
    const std::string& text = node["channel"].asString();
    Result<ChannelTemplate> channel = ChannelTemplate::compile(text, context.param_names);
    if (!channel.ok()) return Status::error("channel: " + channel.status().message());
    auto publisher = Publisher::make(PublishOptions::fromConfig(node["publish"]), context.path, *runtime());
    if (!publisher.ok()) return publisher.status();
    auto subscribe = subscribeRoute(node["subscribe"], text, context, publisher.value(), *runtime());
    if (!subscribe.ok()) return subscribe.status();
    auto publish = std::make_unique<PublishHandler>(std::move(channel).value(), std::move(publisher).value(),
                                                    BatchOptions());
    module::RouteParts parts;
    parts.handler = std::make_unique<PubsubHandler>(std::move(subscribe).value(), std::move(publish));
    return parts;
  }
};

}  // namespace

std::vector<std::unique_ptr<module::Module>> makePush() {
  const auto runtime = std::make_shared<Runtime>();
  std::vector<std::unique_ptr<module::Module>> modules;
  modules.push_back(std::make_unique<PushPublish>(runtime));
  modules.push_back(std::make_unique<PushSubscribe>(runtime));
  modules.push_back(std::make_unique<PushPubsub>(runtime));
  return modules;
}

}  // namespace roost::modules::push
