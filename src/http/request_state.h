#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/body_stage.h"
#include "http/handler.h"
#include "http/message.h"
#include "http/response_head.h"
#include "http/router.h"
#include "net/address.h"

namespace roost::http {

struct ServicePin;

// How an answer is getting on, for those who are told of its end.
struct Progress {
  uint64_t content_bytes = 0;
  int64_t started_ns = 0;
  int64_t upstream_ns = -1;
  int status = 0;  // of the head that was sent

  Outcome outcome(int64_t now_ns) const noexcept {
    Outcome how;
    how.status = status;
    how.content_bytes = content_bytes;
    how.duration_ns = now_ns - started_ns;
    how.upstream_ns = upstream_ns;
    return how;
  }
  // `bytes` of the content have not reached the socket, and will not.
  void uncount(uint64_t bytes) noexcept { content_bytes -= bytes < content_bytes ? bytes : content_bytes; }
};

// A request, the route that answers it, and what is found out on the way. Lies beside its head and goes with
// it: an exchange that has parked has none. Only Exchange looks inside.
struct RequestState {
  Progress progress;
  const RequestHead* head = nullptr;
  const Route* route = nullptr;
  ServicePin* pin = nullptr;
  std::string_view host;
  std::string_view path;
  std::unique_ptr<BodyStage> stage;
  uint16_t next_filter = 0;
  uint8_t reroutes = 0;
  RouteParams params;
  net::PeerAddr client{};  // where a trusted proxy has named one
  std::string user;        // who has proved to be it; empty: nobody
  std::string new_path;    // after a rewrite; empty otherwise
  std::string new_query;
  std::array<char, 32> request_id{};
  std::unique_ptr<ResponseHead> error_extra;  // further fields of the error whose page is being fetched
  std::vector<std::unique_ptr<Attachment>> attachments;
  uint8_t request_id_field = RequestHead::kNoField;  // that a trusted proxy has sent
  std::array<const void*, 4> counted_by{};           // see Exchange::countsFirst
  uint8_t counted = 0;
  const Route* asked_route = nullptr;  // while another answers with the page of its error
  bool has_client = false;
  bool has_new_query = false;
  bool has_request_id = false;
  bool https = false;
  bool answered_as = false;  // the handler has named another path

  void clear() noexcept {
    has_client = has_new_query = has_request_id = https = answered_as = false;
    request_id_field = RequestHead::kNoField;
    counted = 0;
    user.clear();
    asked_route = nullptr;
    error_extra.reset();
    attachments.clear();
    head = nullptr;
    route = nullptr;
  }
};

// What of it outlives parking, and an answer that the client is still taking, where somebody wants to know or
// a stage is at work.
struct ParkedState {
  Progress progress;
  std::unique_ptr<BodyStage> stage;
  std::vector<std::unique_ptr<ParkedObserver>> observers;
  std::vector<std::unique_ptr<Attachment>> attachments;

  bool isWatched() const noexcept { return !observers.empty() || !attachments.empty(); }
  void tell(const Outcome& outcome) const noexcept {
    for (const auto& observer : observers) observer->onEnd(outcome);
  }
};

}  // namespace roost::http
