#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "base/counted.h"
#include "push/message_id.h"

namespace roost::push {

// A published message. Immutable but for its wire forms, which are encoded when first wanted and then shared;
// counted, since histories and sending sockets of several loops keep it. Any thread.
//
// What it takes counts in the hub's account of memory: itself until the last reference is gone, payload and
// forms until the last of the sockets that they wait in has let go of them, too.
class Message final : public Counted {
 public:
  using Ref = CountedRef<const Message>;

  // `account` (bytes) outlives the message, its payload and its forms; nullptr: none. REQUIRES: no other
  // message is being made of that payload.
  static Ref make(const MessageId& id, int64_t published_ns, BufferRef payload, std::string content_type,
                  std::string event, std::atomic<int64_t>* account);

  const MessageId& id() const noexcept { return id_; }
  int64_t publishedNs() const noexcept { return published_ns_; }  // monotonic, when it got its id
  const BufferRef& payload() const noexcept { return payload_; }
  std::string_view contentType() const noexcept { return content_type_; }  // empty: none was given
  std::string_view event() const noexcept { return event_; }               // X-EventSource-Event
  // What it takes in memory without its forms: the same for its whole life.
  size_t bytes() const noexcept {
    return sizeof(Message) + payload_.size() + content_type_.size() + event_.size();
  }

  // The message as it goes over the wire in one of the forms that the modules define (an index each):
  // `encode` is called the first time, on whatever thread asks; should two ask at once, one result counts.
  // Empty where there is no memory for it, and the next who asks tries again.
  static constexpr size_t kForms = 4;
  using Encode = BufferRef (*)(const Message&);
  const BufferRef& form(size_t index, Encode encode) const;

 private:
  friend class CountedRef<const Message>;
  struct Form;
  Message(const MessageId& id, int64_t published_ns, BufferRef payload, std::string content_type,
          std::string event, std::atomic<int64_t>* account);
  ~Message();

  const MessageId id_;
  const int64_t published_ns_;
  const BufferRef payload_;
  const std::string content_type_;
  const std::string event_;
  std::atomic<int64_t>* const account_;
  mutable std::array<std::atomic<Form*>, kForms> forms_{};
};

}  // namespace roost::push
