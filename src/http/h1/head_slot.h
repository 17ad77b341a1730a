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
// parser, the head it fills, and the head's text where that had to be kept. Borrowed from the loop's
// Protocol.
struct HeadSlot {
  RequestParser parser;
  RequestHead head;
  ChunkedDecoder chunks;
  std::string_view host;
  std::string_view path;  // canonical; in the head's text, or in path_text
  RequestState state;
  std::string path_text;
  net::Chunk* text = nullptr;  // owned; nullptr while the text lies in the read buffer
};

}  // namespace roost::http::h1
