// Subscribing by HTTP: what stands behind "push_subscribe", and behind GET of "push_pubsub".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "http/handler.h"
#include "http/template.h"
#include "push/hub.h"

namespace roost::metrics {
class Registry;
}

namespace roost::modules::push {

class Publisher;
class AddressPlaces;

// What a route says about its subscribers.
struct SubscribeOptions {
  http::Template channel;
  bool long_poll = true;
  bool interval_poll = false;  // in its place
  bool sse = true;
  bool websocket = true;
  roost::push::SubscribeOptions first;  // where one begins that has no id, and what becomes of a slow one
  uint32_t timeout_ms = 60'000;         // of a long poll; 0: none
  int timeout_status = 304;             // or 408
  uint32_t heartbeat_ms = 15'000;       // of an event stream; 0: none
  uint32_t retry_ms = 3'000;            // 0: no hint
  uint32_t retry_after_s = 5;           // where a limit refuses
  uint32_t ping_interval_ms = 30'000;   // of a WebSocket; 0: none
  bool gap_messages = true;             // to WebSockets whose subprotocol knows no event of that name
  std::vector<std::string> origins = {"same"};  // that may open one, as http::OriginPolicy has them
  std::string id_header;                        // empty: none
  std::string id_query;                         // likewise
  std::shared_ptr<const Publisher> publisher;   // of WebSocket clients; nullptr: they may not

  // Reads the keys of subscribe_schema.json but for "publish", which is the caller's. `names` are the parts
  // of the route's path. Errors: a template, transport or origin that is none.
  static Result<SubscribeOptions> fromConfig(config::Node node, const std::string& channel,
                                             const std::vector<std::string>& names);
};

// What the handlers of all routes share; outlives them.
struct SubscribeContext {
  roost::push::Hub& hub;
  metrics::Registry& metrics;
  size_t loop_count;
  std::shared_ptr<AddressPlaces> places;  // subscribers per address; nullptr: as many as come
  std::string server_header;              // of answers that are kept ready
  std::string route;                      // the route's path: a label of its metrics
};

// REQUIRES: route handlers only. Errors: origins that are none.
Result<std::unique_ptr<const http::Handler>> makeSubscribeHandler(SubscribeOptions options,
                                                                  const SubscribeContext& context);

// How many subscribers one address may have at a time, over all routes. Any thread.
std::shared_ptr<AddressPlaces> makeAddressPlaces(uint32_t max_per_address);

}  // namespace roost::modules::push
