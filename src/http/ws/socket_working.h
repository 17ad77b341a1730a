#pragma once

#include <optional>

#include "http/ws/message_buffer.h"
#include "http/ws/socket.h"
#include "http/ws/utf8.h"

namespace roost::http::ws {

// What a socket has only while a message is coming in, or contexts of compression are kept.
struct Socket::Working {
  FrameDecoder decoder;
  Utf8Check utf8;
  Opcode opcode = Opcode::kBinary;
  MessageBuffer message;
  std::optional<Inflater> inflater;
  std::optional<Deflater> deflater;
};

}  // namespace roost::http::ws
