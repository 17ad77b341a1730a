// What a publisher says beside the message itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "push/hub.h"

namespace roost::http {
struct RequestHead;
}

namespace roost::modules::push {

constexpr size_t kMaxFieldBytes = 255;  // of a Content-Type, an event's name or a key

// Whether a text may be a message's Content-Type or event, which go into fields and lines of their own on
// every transport: bounded, and without control characters.
bool mayStandInLine(std::string_view text) noexcept;
// What is wrong with a message's type, event and key, in a sentence; empty: nothing.
std::string_view faultOf(const ::roost::push::Publication& message) noexcept;
// "gap" is what subscribers are told of lost messages by.
constexpr std::string_view kReservedEvent = "gap";

// Reads Content-Type, X-EventSource-Event, Idempotency-Key and, in the query, "wait". Empty, or what is wrong
// with them in a sentence. `max_wait_ms` 0: there is no waiting.
std::string_view readPublication(const http::RequestHead& head, std::string_view query, uint32_t max_wait_ms,
                                 ::roost::push::Publication& message);

}  // namespace roost::modules::push
