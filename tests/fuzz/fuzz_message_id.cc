// links: roost_push
// Any text as the id of a message: what is read is written as it was meant, and read again as the same.
#include <cstdint>
#include <string_view>

#include "push/message_id.h"
#include "support/fuzz_require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using roost::push::MessageId;
  using roost::test::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto id = MessageId::parse(text)) {
    require(text.size() <= MessageId::kMaxText, "too long an id is refused");
    require(id->time_s >= 0, "a time is a number of digits");
    require(id->epoch != 0 || id->seq == 0 || *id == MessageId::makeForeign(id->time_s),
            "no seq without an epoch, but of foreign ids");
    if (id->epoch != 0) require(MessageId::parse(id->text()) == id, "an id reads as it is written");
  }
  MessageId tagged;
  if (tagged.parseTag(text)) {
    MessageId quoted, weak;
    require(quoted.parseTag('"' + tagged.tag() + '"') && quoted == tagged, "quoted");
    require(weak.parseTag("W/\"" + tagged.tag() + '"') && weak == tagged, "weak");
  } else {
    require(tagged.seq == 0 && tagged.epoch == 0, "what is unknown is nothing");
  }
  return 0;
}
