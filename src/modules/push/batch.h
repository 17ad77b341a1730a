// A list of messages in JSON: [{"channel": "a", "data": "text"}, ...].
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modules/push/publish_options.h"
#include "modules/push/publisher.h"
#include "push/hub.h"

namespace roost::modules::push {

// One message of a list, or why it is none that may be published.
struct BatchEntry {
  std::string channel;
  ::roost::push::Publication message;  // payload, type, event, key
  int status = 0;                      // 0: it may be published
  Refusal refusal = Refusal::kField;   // otherwise
  std::string_view fault;
};

struct Batch {
  std::vector<BatchEntry> entries;
  int status = 200;   // 400, 413, or 503 where there is no memory for it: nothing of it is published
  std::string fault;  // then, in a sentence with its place
};

// Reads a list: an array of objects with "channel" and one of "data" (a text) and "base64", and, as one
// likes, "content_type", "event" and "id_key", all texts. What is not of that shape, or has too many
// messages, is refused as a whole; what one message says wrongly (a name or a size that may not be) is that
// message's fault alone. Memory: that of the texts. Any thread.
Batch readBatch(std::string_view text, const BatchOptions& limits, uint32_t max_message_bytes) noexcept;

// Decodes base64 (RFC 4648 section 4, with its padding); false where it is none.
bool decodeBase64(std::string_view text, std::string& out);

}  // namespace roost::modules::push
