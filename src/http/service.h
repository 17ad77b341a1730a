#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/h1/request_parser.h"
#include "http/prepared_response.h"
#include "http/router.h"

namespace roost::http {

class ClientAddress;

// What a configuration says about HTTP itself. Times in milliseconds, sizes in bytes.
struct ServiceOptions {
  h1::HeadLimits head_limits;
  uint64_t max_body_bytes = 64 << 20;
  // An unread body up to this is read away to keep the connection.
  uint64_t max_discard_body_bytes = 64 << 10;
  uint32_t head_timeout_ms = 20'000;  // for a whole head, from its first byte (at first: from accepting)
  uint32_t body_timeout_ms = 30'000;  // between two pieces of a body; for all of one that is read away
  uint32_t keep_alive_timeout_ms = 75'000;
  uint32_t send_timeout_ms = 60'000;         // without progress
  uint32_t max_requests_per_connection = 0;  // 0: no limit
  std::string server_header = "roost";       // empty: no Server field
  // Whose word on the client's address counts; nullptr: nobody's.
  std::shared_ptr<const ClientAddress> client_address;
  // Least bytes per second of a wanted body, and of a response that a client takes, on the average of windows
  // of this length; 0: no least.
  uint32_t min_body_bytes_per_s = 200;
  uint32_t min_send_bytes_per_s = 200;
  uint32_t min_rate_window_ms = 30'000;
};

// Everything that answering a request needs of one configuration: immutable, shared by all loops, replaced as
// a whole.
class Service {
 public:
  Service(ServiceOptions options, Router router);

  const ServiceOptions& options() const noexcept { return options_; }
  const Router& router() const noexcept { return router_; }
  // The statuses that have a default body.
  static constexpr int kFirstStatus = 300;
  static constexpr int kStatuses = 300;
  static bool hasErrorBody(int status) noexcept {
    return status >= kFirstStatus && status < kFirstStatus + kStatuses;
  }
  // The default body of an error answer; empty for a status without content.
  std::string_view errorBody(int status) const noexcept;

 private:
  ServiceOptions options_;
  Router router_;
  std::array<std::string, kStatuses> error_bodies_;
};

// One loop's hold on a Service. Exchanges under way count themselves here, without atomics, so that a Service
// that has been replaced lives until its last exchange on this loop is over.
struct ServicePin {
  explicit ServicePin(std::shared_ptr<const Service> held) noexcept : service(std::move(held)) {}

  // The service's own page for a status, ready to be sent; made when it is first asked for. REQUIRES:
  // Service::hasErrorBody(status).
  PreparedResponse& errorPage(int status);
  // 503 with Retry-After, for requests that are refused because the server is overloaded.
  static constexpr int kRetryAfterS = 5;
  PreparedResponse& overloadPage();

  std::shared_ptr<const Service> service;
  uint32_t exchanges = 0;

 private:
  std::array<std::unique_ptr<PreparedResponse>, Service::kStatuses> error_pages_;
  std::unique_ptr<PreparedResponse> overload_page_;
};

}  // namespace roost::http
