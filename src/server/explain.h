// ./server --explain: one request, answered by the real pipeline without a listener, and the course it took.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "http/trace.h"
#include "module/registry.h"
#include "net/address.h"
#include "server/server_config.h"

namespace roost::server {

// The request that is asked about.
struct ExplainRequest {
  std::string method;
  std::string host;    // as it stands in the Host field
  std::string target;  // in origin form
  std::string fields;  // further field lines, each with its line end
  net::PeerAddr client{};

  std::string wire() const;  // the head as it is sent
};

// `text` is "GET http://host/path"; the method may be left out, and so may scheme and host ("/path" is asked
// of localhost). `fields` are "Name: value". `client` is an address without port. Errors: one line for
// people.
Result<ExplainRequest> parseExplainRequest(std::string_view text, const std::vector<std::string>& fields,
                                           std::string_view client);

// What a connection to the server has brought.
struct Answer {
  std::vector<std::string> interim;  // the heads of 1xx answers
  std::string head;                  // of the final answer, without its last line end; empty: none came
  std::string begin;                 // of the content, at most kShownBytes
  uint64_t content_bytes = 0;        // that were read
  bool complete = false;             // else it was cut off, or more than kMostBytes would have come
  bool given_up = false;             // the server has closed before it was complete

  static constexpr size_t kShownBytes = 400;
  static constexpr uint64_t kMostBytes = 16 << 20;
};

// Takes an HTTP/1.1 answer apart as it comes. Owned by whoever reads.
class AnswerReader {
 public:
  explicit AnswerReader(bool head_only) noexcept : head_only_(head_only) {}
  void take(std::string_view bytes);  // what has come
  bool done() const noexcept { return answer_.complete || answer_.content_bytes > Answer::kMostBytes; }
  void end() noexcept;  // the connection was closed
  const Answer& answer() const noexcept { return answer_; }

 private:
  bool takeHead();
  void takeContent();
  void keep(std::string_view content);

  const bool head_only_;
  bool has_head_ = false;
  bool chunked_ = false;
  bool until_close_ = false;
  uint64_t left_ = 0;  // of the content, or of the chunk
  std::string buffer_;
  Answer answer_;
};

struct Explanation {
  http::Trace trace;
  Answer answer;
};

// Starts the modules on one loop without listeners, asks, and waits for kExplainMs at most. Nothing is
// written: no log, no pid file; and no database is asked: who needs one says what for, and gives its answer
// up. Main thread; the log has not been started. `config` and what `root` belongs
// to outlive the call. Errors: what keeps the server from starting.
inline constexpr int kExplainMs = 10'000;
Result<Explanation> explain(const ServerConfig& config, config::Node root, module::Registry& registry,
                            Sys& sys, const ExplainRequest& request);

// For people; ends with a newline.
std::string report(const ExplainRequest& request, const Explanation& explanation);

}  // namespace roost::server
