#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/client/url.h"
#include "net/address.h"

namespace roost::swarm {

enum class Kind : uint8_t { kTcpEcho, kHttp, kHold, kPoll, kSse, kWs };
enum class WsMode : uint8_t { kEcho, kQuiet, kListen };
enum class BodyCheck : uint8_t { kAny, kSame, kHash };

std::string_view kindName(Kind kind) noexcept;

// What a run does. A plain value, made on the main thread from a scenario's file and the command line, then
// read by all threads. The meaning of each key stands in schema.json.
struct Scenario {
  static constexpr int64_t kSameBytes = -1;
  static constexpr int64_t kAnyBytes = -2;

  std::string name;  // the file's, or the URL
  std::string description;
  Kind kind = Kind::kHttp;
  WsMode ws_mode = WsMode::kEcho;
  std::string ws_subprotocol;  // "": none is asked for
  std::string url;
  std::string host;       // as the Host field says it
  std::string host_name;  // without the port
  uint32_t port = 0;
  std::string path;
  net::SocketAddress target;  // AF_UNSPEC: host_name is a name that resolveTargets() has yet to look up
  bool loopback = true;

  uint32_t clients = 0;
  uint32_t threads = 0;
  int32_t source_addresses = -1;
  double connect_rate = 0;
  double rate = 0;
  int64_t think_ns = 0;
  uint32_t requests_per_client = 0;
  uint32_t connect_timeout_ms = 0;
  bool require_all = false;
  uint32_t timeout_ms = 0;
  int64_t settle_ns = 0;
  int64_t warmup_ns = 0;
  int64_t duration_ns = 0;
  int64_t drain_ns = 0;
  uint32_t message_bytes = 0;
  std::string method;
  std::vector<std::string> headers;
  std::string body;
  int expect_status = 200;
  int64_t expect_bytes = kSameBytes;
  BodyCheck expect_body = BodyCheck::kAny;
  uint64_t expect_hash = 0;
  int64_t expect_min_ns = 0;
  int64_t expect_max_ns = 0;
  uint32_t pipeline = 1;
  bool spin = false;
  bool expect_sequence = false;
  uint64_t expect_messages = 0;
  std::string publish_url;    // "": swarm publishes nothing
  http::client::Url publish;  // the same, taken apart
  uint64_t publish_messages = 0;
  int64_t publish_interval_ns = 0;
  uint32_t publish_bytes = 0;
  bool reconnect = true;
  int64_t reconnect_delay_ns = 0;
  std::vector<int> pids;

  // Clients that only receive, or only are there: nothing is asked of them at a rate. A poll is how to
  // receive.
  bool listens() const noexcept {
    return kind == Kind::kSse || kind == Kind::kPoll || (kind == Kind::kWs && ws_mode != WsMode::kEcho);
  }
  bool publishes() const noexcept { return !publish_url.empty(); }
  // Clients of which each is asked at the end of the run whether it still stands.
  bool asksAtEnd() const noexcept { return kind == Kind::kWs && ws_mode == WsMode::kQuiet; }
  // WebSocket messages have Nchan's lines before their payload.
  bool hasMeta() const noexcept { return ws_subprotocol == "ws+meta.nchan"; }
  // Clients that ask as soon as they are connected, and not only once all are.
  bool asksAtOnce() const noexcept { return kind == Kind::kHold && rate == 0; }
};

// Reads `file` ("" for none: the schema's defaults) with `overlay`, a JSON object whose keys win. Errors of
// the file name file:line:column; those of the overlay name `overlay_names`' entry for its line, counted from
// 1. Errors: what the schema refuses; a URL that is none, or away from loopback without `allow_remote`; keys
// that exclude each other. Main thread.
Result<Scenario> loadScenario(const std::string& file, const std::string& overlay,
                              const std::vector<std::string>& overlay_names, bool allow_remote);

// The JSON Schema of scenarios, for editors.
Result<std::string> scenarioSchema();

}  // namespace roost::swarm
