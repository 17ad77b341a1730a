#pragma once

#include <string_view>

#include "http/exchange.h"
#include "push/message_id.h"

namespace roost::modules::push {

namespace hub = ::roost::push;

// Whether a request says which message its client has had last. kMalformed: it says something that is no id.
enum class Asked : uint8_t { kNothing, kId, kMalformed };

// Looks for the id in the field `header_name`, then in Last-Event-ID, then in the argument `query_key` of the
// query (percent-encoded), which an EventSource repeats whenever it comes back, then in If-Modified-Since and
// If-None-Match, of which either may be missing; the first that is there and not empty counts. Either name
// may be empty. A date that is none is passed over, as RFC 9110 has it; tags of which none is ours make a
// foreign id, and so does a Last-Event-ID that is none: an EventSource never comes back after a 400.
// REQUIRES: not parked.
Asked readPosition(const http::Exchange& exchange, std::string_view query_key, std::string_view header_name,
                   hub::MessageId& id);

// What a request wants: whether `type` is among what Accept names, and no less than anything else.
bool asksForEvents(const http::RequestHead& head) noexcept;
bool asksForWebSocket(const http::RequestHead& head) noexcept;

}  // namespace roost::modules::push
