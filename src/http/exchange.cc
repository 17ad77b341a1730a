#include "http/exchange.h"

#include <cassert>

#include "http/error_page.h"

namespace roost::http {

void Exchange::start(LoopContext& context, StreamPort& port, const RequestHead& head, std::string_view host,
                     std::string_view path, const Route& route, ServicePin& pin, bool has_body) noexcept {
  context_ = &context;
  port_ = &port;
  head_ = &head;
  route_ = &route;
  pin_ = &pin;
  host_ = host;
  path_ = path;
  next_filter_ = 0;
  head_request_ = head.method == Method::kHead;
  has_body_ = has_body;
  head_sent_ = false;
  aborted_ = paused_ = false;
}

void Exchange::runRoute() noexcept {
  const auto& filters = route_->request_filters;
  while (next_filter_ < filters.size()) {
    const Verdict verdict = filters[next_filter_++]->onRequest(*this);
    if (verdict == Verdict::kContinue) continue;
    paused_ = verdict == Verdict::kPaused && open();
    return;
  }
  route_->handler->handle(*this);
}

void Exchange::resume(Verdict verdict) noexcept {
  if (!open() || !paused_ || parked()) return;
  paused_ = false;
  if (verdict == Verdict::kContinue) runRoute();
}

void Exchange::movedHead(std::string_view host, std::string_view path) noexcept {
  host_ = host;
  path_ = path;
}

void Exchange::listen(std::unique_ptr<ExchangeListener> listener) noexcept {
  if (!open()) return;
  std::swap(listener_, listener);
  if (listener != nullptr) context_->loop().destroyLater(event::makeTask([gone = std::move(listener)] {}));
  port_->wantBody();
}

void Exchange::filterHead(ResponseHead& head) noexcept {
  head_sent_ = true;
  if (parked()) return;
  for (const auto& filter : route_->response_filters) filter->onHead(*this, head);
}

// A second head would stand in the middle of the first answer's content.
bool Exchange::mayBegin() const noexcept {
  if (!open()) return false;
  assert(!head_sent_ && "an answer has begun already");
  return !head_sent_;
}

void Exchange::begin(ResponseHead& head, bool fin) noexcept {
  if (!mayBegin()) return;
  filterHead(head);
  port_->sendHead(head, fin);
}

void Exchange::reply(ResponseHead& head, std::string_view body) noexcept {
  if (!mayBegin()) return;
  head.content_length = static_cast<int64_t>(body.size());
  begin(head, body.empty());
  if (!body.empty()) send(body, true);
}

void Exchange::reply(PreparedResponse& response) noexcept {
  if (!mayBegin()) return;
  head_sent_ = true;
  port_->sendPrepared(response);
}

void Exchange::replyError(int status, const ResponseHead* extra) noexcept {
  if (!mayBegin()) return;
  if (extra == nullptr && mayReplyPrepared() && Service::hasErrorBody(status)) {
    return reply(pin_->errorPage(status));
  }
  ResponseHead head(status);
  const std::string_view body = parked() ? std::string_view{} : service().errorBody(status);
  if (!body.empty()) head.add("Content-Type", kErrorPageType);
  if (extra != nullptr)
    extra->forEach([&](std::string_view name, std::string_view value) { head.add(name, value); });
  reply(head, body);
}

ByteStream* Exchange::upgrade(ResponseHead& head, std::unique_ptr<ByteStreamListener> listener) noexcept {
  if (!open() || head_sent_) return nullptr;
  filterHead(head);
  ByteStream* stream = port_->upgrade(head, std::move(listener));
  if (stream == nullptr) head_sent_ = false;
  return stream;
}

void Exchange::releaseService() noexcept {
  if (pin_ == nullptr) return;
  context_->unpin(*pin_);
  pin_ = nullptr;
}

void Exchange::park() noexcept {
  if (!open() || parked()) return;
  head_ = nullptr;
  route_ = nullptr;
  host_ = path_ = {};
  releaseService();
  port_->parked();
}

ExchangeHandle Exchange::handle() {
  if (!name_.given()) name_ = context_->exchanges().add(*this);
  return {*context_, name_};
}

void Exchange::end() noexcept {
  if (context_ == nullptr) return;
  if (name_.given()) {
    context_->exchanges().remove(name_.slot);
    name_ = {};
  }
  releaseService();
  head_ = nullptr;
  route_ = nullptr;
  // One of the listener's own calls may be what brought this about.
  if (listener_ != nullptr) {
    context_->loop().destroyLater(event::makeTask([gone = std::move(listener_)] {}));
  }
  context_ = nullptr;
}

void Exchange::abort(AbortReason reason) noexcept {
  if (!open()) return;
  aborted_ = true;  // what the listener does now must not lead here again
  if (listener_ != nullptr) listener_->onAbort(reason);
  end();
}

void ExchangeHandle::reply(std::unique_ptr<ResponseHead> head, BufferRef body) const {
  post([head = std::move(head), body = std::move(body)](Exchange& exchange) {
    if (!exchange.headSent()) exchange.reply(*head, body.view());
  });
}

}  // namespace roost::http
