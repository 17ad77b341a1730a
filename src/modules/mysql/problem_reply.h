// Answers that say what is wrong (RFC 9457), in the members that PostgREST's clients read as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tables/problem.h"

namespace roost::http {
class Exchange;
class ResponseHead;
}  // namespace roost::http

namespace roost::modules::mysql {

// What may stand beside a problem.
struct ProblemExtra {
  uint32_t retry_after_s = 0;                 // 0: no Retry-After field
  std::string_view details = {};              // the member `details`; empty: null
  const http::ResponseHead* lines = nullptr;  // further fields: Allow, Content-Range
};

// The whole answer. REQUIRES: !exchange.headSent().
void replyProblem(http::Exchange& exchange, const tables::Problem& problem, const ProblemExtra& extra = {});

// Of a request that is explained: says so, and gives the answer up, since it is the database's, which is not
// asked.
void leaveToDatabase(http::Exchange& exchange, std::string what);

// 503, with Retry-After and counted: there is no memory for what a client has sent, and nothing of it is
// done.
tables::Problem noMemory();
// There is none for the answer: 507 where something has been, or may have been, written, else 503.
tables::Problem noMemoryForAnswer(bool writes);

// Before anything is written: answers a request of another origin's page with 403 (http/origin_rule.h).
// False: it may write.
bool refuseForeign(http::Exchange& exchange);

// 405 with what is allowed: "GET, HEAD, POST".
void replyNotAllowed(http::Exchange& exchange, std::string_view allow, std::string_view detail);

}  // namespace roost::modules::mysql
