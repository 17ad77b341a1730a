// How a message goes over the wire, encoded once for all that get it that way. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/buffer.h"
#include "push/subscriber.h"

namespace roost::modules::push {

namespace hub = ::roost::push;

// hub::Message::form()'s indexes.
enum Form : size_t { kEventForm, kPlainFrameForm, kMetaFrameForm, kNchanFrameForm };

// An event of a stream (HTML section 9.2), with the framing of http::makeFramed() around it: "id", "event"
// where there is one, and a "data" for each line of the payload, which CR, LF and CRLF end alike. So whatever
// was published, a client reads these fields and no others.
BufferRef encodeEvent(const hub::Message& message);

// A frame of a WebSocket (RFC 6455 section 5) with the payload alone, or behind "id", "content-type" and
// "event" lines and an empty one (ws+meta.nchan), without "event" as Nchan has it, whose clients know no such
// line. Text where the payload is UTF-8 and its type is not application/octet-stream, binary otherwise.
BufferRef encodePlainFrame(const hub::Message& message);
BufferRef encodeMetaFrame(const hub::Message& message);
BufferRef encodeNchanFrame(const hub::Message& message);

// A gap in the same forms: {"after":"<id>","missed":5}, null where it is not known how many; without an
// event's name {"event":"gap","after":...}. Its id is that of the position behind the gap.
std::string gapJson(const hub::Gap& gap);
BufferRef gapEvent(const hub::Gap& gap);
BufferRef gapFrame(const hub::Gap& gap, Form form);

// Where a subscription begins: "position: <id>" and an empty line. No message has a line of that name.
BufferRef positionFrame(const hub::MessageId& position);

}  // namespace roost::modules::push
