#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/h1/chunked_decoder.h"
#include "http/h1/request_parser.h"
#include "http/message.h"
#include "http/request_state.h"
#include "net/chunk.h"

namespace roost::http::h1 {

// What reading one request takes, apart from the session so that idle and parked connections do without: the
// parser, the head it fills, the head's text where that had to be kept, and how the body gets on. Borrowed
// from the loop's Protocol.
struct HeadSlot {
  RequestParser parser;
  RequestHead head;
  ChunkedDecoder chunks;
  std::string_view host;
  std::string_view path;  // canonical; in the head's text, or in path_text
  RequestState state;
  std::string path_text;
  net::Chunk* text = nullptr;  // owned; nullptr while the text lies in the read buffer
  int64_t head_done_ns = 0;    // when the head was complete; 0: it is not, or has been answered
  uint64_t body_left = 0;      // of a request with Content-Length
  uint64_t body_seen = 0;
  uint64_t body_given = 0;      // to its listener, which may keep it
  uint64_t body_overhead = 0;   // of a chunked one: what has come of it beside content
  int64_t body_since_ns = 0;    // when the window began in which its rate is measured; 0: it has not
  uint64_t body_in_window = 0;  // content that has come in it
  uint32_t unconsumed = 0;      // of the body, by its listener
};

}  // namespace roost::http::h1
