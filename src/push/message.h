#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "push/message_id.h"

namespace roost::push {

// A published message. Immutable but for its wire forms, which are encoded when first wanted and then shared;
// counted, since histories and sending sockets of several loops keep it. Any thread.
//
// What it takes (itself, payload and forms) counts in the hub's account of memory from its making until the
// last reference is gone.
class Message {
 public:
  // The last reference deletes.
  class Ref {
   public:
    Ref() noexcept = default;
    Ref(const Ref& other) noexcept : message_(other.message_) {
      if (message_ != nullptr) message_->refs_.fetch_add(1, std::memory_order_relaxed);
    }
    Ref(Ref&& other) noexcept : message_(std::exchange(other.message_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(message_, other.message_);
      return *this;
    }
    ~Ref() {
      if (message_ != nullptr && message_->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete message_;
    }
    explicit operator bool() const noexcept { return message_ != nullptr; }
    const Message* operator->() const noexcept { return message_; }
    const Message& operator*() const noexcept { return *message_; }
    // Whether somebody else has one too, at this moment.
    bool shared() const noexcept {
      return message_ != nullptr && message_->refs_.load(std::memory_order_relaxed) > 1;
    }

   private:
    friend class Message;
    explicit Ref(const Message* message) noexcept : message_(message) {}
    const Message* message_ = nullptr;
  };

  // `account` (bytes) outlives the message; nullptr: none.
  static Ref make(const MessageId& id, int64_t published_ns, BufferRef payload, std::string content_type,
                  std::string event, std::atomic<int64_t>* account);
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

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
  static constexpr size_t kForms = 4;
  using Encode = BufferRef (*)(const Message&);
  const BufferRef& form(size_t index, Encode encode) const;

 private:
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
  mutable std::atomic<uint32_t> refs_{1};
};

}  // namespace roost::push
