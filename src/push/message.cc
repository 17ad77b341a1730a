#include "push/message.h"

#include <memory>

namespace roost::push {

struct Message::Form {
  BufferRef bytes;
};

Message::Message(const MessageId& id, int64_t published_ns, BufferRef payload, std::string content_type,
                 std::string event, std::atomic<int64_t>* account)
    : id_(id),
      published_ns_(published_ns),
      payload_(std::move(payload)),
      content_type_(std::move(content_type)),
      event_(std::move(event)),
      account_(account) {
  if (account_ == nullptr) return;
  account_->fetch_add(static_cast<int64_t>(bytes() - payload_.size()), std::memory_order_relaxed);
  payload_.countIn(*account_);
}

Message::~Message() {
  for (std::atomic<Form*>& slot : forms_) delete slot.load(std::memory_order_relaxed);
  if (account_ != nullptr)
    account_->fetch_sub(static_cast<int64_t>(bytes() - payload_.size()), std::memory_order_relaxed);
}

Message::Ref Message::make(const MessageId& id, int64_t published_ns, BufferRef payload,
                           std::string content_type, std::string event, std::atomic<int64_t>* account) {
  return Ref::adopt(
      new Message(id, published_ns, std::move(payload), std::move(content_type), std::move(event), account));
}

const BufferRef& Message::form(size_t index, Encode encode) const {
  std::atomic<Form*>& slot = forms_[index];
  Form* form = slot.load(std::memory_order_acquire);
  if (form != nullptr) return form->bytes;
  static const BufferRef kNone;
  auto made = std::make_unique<Form>(Form{encode(*this)});
  if (!made->bytes) return kNone;
  if (account_ != nullptr) made->bytes.countIn(*account_);
  if (slot.compare_exchange_strong(form, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    form = made.release();
  return form->bytes;
}

}  // namespace roost::push
