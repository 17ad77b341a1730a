#include "modules/push/publish_options.h"

namespace roost::modules::push {
namespace {

uint32_t number(config::Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

}  // namespace

PublishOptions PublishOptions::fromConfig(config::Node node) {
  PublishOptions options;
  options.max_message_bytes = number(node["max_message_bytes"]);
  options.history_messages = number(node["history"]["messages"]);
  options.history_s = number(node["history"]["seconds"]);
  options.max_per_second = number(node["messages_per_second"]);
  options.max_wait_ms = number(node["max_wait_ms"]);
  return options;
}

BatchOptions BatchOptions::fromConfig(config::Node node) {
  BatchOptions options;
  options.on = node.isObject();
  if (!options.on) return options;
  options.max_messages = number(node["max_messages"]);
  options.max_bytes = number(node["max_bytes"]);
  const config::Node channels = node["channels"];
  for (size_t i = 0; i < channels.size(); ++i) options.prefixes.push_back(channels.at(i).asString());
  return options;
}

}  // namespace roost::modules::push
