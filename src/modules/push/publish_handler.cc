#include "modules/push/publish_handler.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "http/accept.h"
#include "http/exchange.h"
#include "http/origin_rule.h"
#include "http/ws/handshake.h"
#include "modules/push/publish_answer.h"
#include "modules/push/publish_batch.h"
#include "modules/push/publish_request.h"
#include "modules/push/socket_publisher.h"
#include "modules/push/subscribe_request.h"

namespace roost::modules::push {
namespace {

using http::Method;
using ::roost::push::ChannelInfo;
using ::roost::push::Publication;
using ::roost::push::PublishResult;

constexpr std::string_view kStopping = "the server is stopping";
// What a client announces takes memory at once up to here; beyond it, as it comes.
constexpr int64_t kMostAtOnce = 64 << 10;

// Answers an exchange with what became of its message, unless its client has gone. Where the hub ends first,
// nobody knows what became of it.
class PublishAnswer final : public ::roost::push::PublishCall {
 public:
  PublishAnswer(http::ExchangeHandle name, const PublishCounters& counters, AnswerForm form, bool waits,
                size_t bytes) noexcept
      : name_(name), counters_(counters), bytes_(bytes), form_(form), waits_(waits) {}
  ~PublishAnswer() override {
    if (answered_) return;
    name_.post([form = form_](http::Exchange& exchange) { replyRefused(exchange, 503, form, kStopping); });
  }

  void onPublished(const PublishResult& result) noexcept override {
    answered_ = true;
    counters_.count(result, bytes_);
    if (http::Exchange* exchange = name_.find()) replyPublished(*exchange, form_, result, waits_);
  }

 private:
  const http::ExchangeHandle name_;
  const PublishCounters& counters_;
  const size_t bytes_;
  const AnswerForm form_;
  const bool waits_;
  bool answered_ = false;
};

// Answers with a channel's numbers; 404 where there is none.
class InfoAnswer final : public ::roost::push::InfoCall {
 public:
  InfoAnswer(http::ExchangeHandle name, AnswerForm form) noexcept : name_(name), form_(form) {}
  ~InfoAnswer() override {
    if (answered_) return;
    name_.post([form = form_](http::Exchange& exchange) { replyRefused(exchange, 503, form, kStopping); });
  }

  void onInfo(const ChannelInfo& info) noexcept override {
    answered_ = true;
    http::Exchange* exchange = name_.find();
    if (exchange == nullptr) return;
    if (!info.exists) return replyRefused(*exchange, 404, form_, "there is no such channel");
    replyInfo(*exchange, 200, form_, info);
  }

 private:
  const http::ExchangeHandle name_;
  const AnswerForm form_;
  bool answered_ = false;
};

// Content-Length, -1 where the content comes in chunks.
int64_t announcedBytes(const http::RequestHead& head) noexcept {
  const std::string_view text = head.get(http::FieldId::kContentLength);
  int64_t bytes = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc{} && end == text.data() + text.size() ? bytes : -1;
}

// Where a request is to be published to, and how it is answered.
struct Order {
  std::string channel;
  Publication message;
  AnswerForm form = AnswerForm::kText;
};

void publishNow(http::Exchange& exchange, const Publisher& publisher, Order order, BufferRef payload) {
  http::LoopContext& context = exchange.context();
  order.message.payload = std::move(payload);
  auto answer = std::make_unique<PublishAnswer>(exchange.handle(), publisher.counters(context), order.form,
                                                order.message.wait_ms > 0, order.message.payload.size());
  publisher.publish(context, order.channel, std::move(order.message), std::move(answer));
}

// Gathers a message's bytes. Owned by the exchange, whose route keeps the publisher.
class MessageReader final : public http::ExchangeListener {
 public:
  MessageReader(http::Exchange& exchange, const Publisher& publisher, Order order, int64_t announced)
      : exchange_(exchange),
        publisher_(publisher),
        order_(std::move(order)),
        announced_(announced <= kMostAtOnce ? announced : -1) {}

  void onBody(std::string_view piece, bool fin) noexcept override {
    if (done_) return exchange_.consumed(piece.size());
    if (used_ + piece.size() > publisher_.options().max_message_bytes) return refuse();
    if (!keep(piece)) return refuseForMemory();
    used_ += piece.size();
    if (fin) return finish();
    exchange_.consumed(piece.size());
  }

 private:
  // False: there is no memory for it.
  bool keep(std::string_view piece) noexcept {
    if (announced_ < 0) return memory::forPeer([&] { grown_.append(piece); });
    if (!payload_) payload_ = BufferRef::allocateForPeer(static_cast<size_t>(announced_));
    if (!payload_) return false;
    if (!piece.empty()) std::memcpy(payload_.mutableData() + used_, piece.data(), piece.size());
    return true;
  }
  void refuseForMemory() noexcept {
    done_ = true;
    grown_ = {};
    publisher_.counters(exchange_.context()).count(Refusal::kMemory);
    replyNoMemory(exchange_, order_.form);
  }
  void refuse() noexcept {
    done_ = true;
    publisher_.counters(exchange_.context()).count(Refusal::kSize);
    replyRefused(exchange_, 413, order_.form, "the message is larger than it may be");
  }
  void finish() noexcept {
    done_ = true;
    if (announced_ < 0) payload_ = BufferRef::copyForPeer(grown_);
    if (!payload_) return refuseForMemory();
    grown_ = {};
    publishNow(exchange_, publisher_, std::move(order_), std::move(payload_));
  }

  http::Exchange& exchange_;
  const Publisher& publisher_;
  Order order_;
  const int64_t announced_;  // at most max_message_bytes; -1: gathered in grown_
  BufferRef payload_;
  std::string grown_;
  size_t used_ = 0;
  bool done_ = false;
};

}  // namespace

PublishHandler::PublishHandler(ChannelTemplate channel, std::shared_ptr<const Publisher> publisher,
                               BatchOptions batch)
    : channel_(std::move(channel)),
      publisher_(std::move(publisher)),
      batch_(std::make_shared<const BatchOptions>(std::move(batch))),
      endpoint_(makePublishEndpoint(channel_, publisher_)) {}

void PublishHandler::handle(http::Exchange& exchange) const noexcept {
  switch (exchange.method()) {
    case Method::kPost:
      if (!mayWrite(exchange)) return;
      return batch_->on ? publishBatch(exchange) : publish(exchange);
    case Method::kPut:
      return mayWrite(exchange) ? publish(exchange) : void();
    case Method::kGet:
      return asksForWebSocket(exchange.request()) ? openSocket(exchange) : tell(exchange, false);
    case Method::kHead:
      return tell(exchange, false);
    case Method::kDelete:
      return mayWrite(exchange) ? tell(exchange, true) : void();
    default:
      return options(exchange);
  }
}

void PublishHandler::options(http::Exchange& exchange) const noexcept {
  http::ResponseHead head(204);
  head.add("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS");
  if (exchange.method() == Method::kOptions) return exchange.begin(head, true);
  exchange.replyError(405, &head);
}

bool PublishHandler::readChannel(http::Exchange& exchange, std::string& name) const noexcept {
  const ChannelFault fault = channel_.read(exchange, name);
  if (fault == ChannelFault::kNone) return true;
  publisher_->counters(exchange.context()).count(Refusal::kName);
  replyRefused(exchange, 400, answerForm(exchange.request()), faultText(fault));
  return false;
}

void PublishHandler::tell(http::Exchange& exchange, bool removes) const noexcept {
  std::string channel;
  if (!readChannel(exchange, channel)) return;
  auto answer = std::make_unique<InfoAnswer>(exchange.handle(), answerForm(exchange.request()));
  ::roost::push::Shard& shard = publisher_->runtime().shard(exchange.context());
  if (http::Trace* trace = exchange.trace())
    trace->note(fmt::format("{} channel \"{}\"", removes ? "deletes" : "tells of", channel));
  if (removes) {
    shard.remove(channel, std::move(answer));
  } else {
    shard.info(channel, std::move(answer));
  }
}

void PublishHandler::openSocket(http::Exchange& exchange) const noexcept {
  std::string channel;
  if (!mayWrite(exchange) || !readChannel(exchange, channel)) return;
  if (http::Trace* trace = exchange.trace())
    trace->note(fmt::format("opens a WebSocket that publishes to \"{}\"", channel));
  http::ws::accept(exchange, endpoint_);
}

void PublishHandler::publish(http::Exchange& exchange) const noexcept {
  Order order;
  if (!readChannel(exchange, order.channel)) return;
  order.form = answerForm(exchange.request());
  const PublishOptions& limits = publisher_->options();
  const std::string_view fault =
      readPublication(exchange.request(), exchange.query(), limits.max_wait_ms, order.message);
  if (!fault.empty()) {
    publisher_->counters(exchange.context()).count(Refusal::kField);
    return replyRefused(exchange, 400, order.form, fault);
  }
  const int64_t announced = exchange.hasBody() ? announcedBytes(exchange.request()) : 0;
  if (announced > int64_t{limits.max_message_bytes}) {
    publisher_->counters(exchange.context()).count(Refusal::kSize);
    return replyRefused(exchange, 413, order.form, "the message is larger than it may be");
  }
  if (http::Trace* trace = exchange.trace()) trace->note(fmt::format("publishes to \"{}\"", order.channel));
  const int64_t too_fast_ns =
      publisher_->admit(publisher_->sourceOf(exchange), order.channel, exchange.context().loop().nowNs());
  if (too_fast_ns > 0) {
    publisher_->counters(exchange.context()).count(Refusal::kRate);
    return replyRefused(exchange, 429, order.form, kTooFast, too_fast_ns);
  }
  if (!exchange.hasBody()) return publishNow(exchange, *publisher_, std::move(order), {});
  exchange.listen(std::make_unique<MessageReader>(exchange, *publisher_, std::move(order), announced));
}

bool PublishHandler::mayWrite(http::Exchange& exchange) const noexcept {
  const std::string foreign = http::refusedOrigin(exchange);
  if (foreign.empty()) return true;
  publisher_->counters(exchange.context()).count(Refusal::kForbidden);
  replyRefused(exchange, 403, answerForm(exchange.request()), foreign);
  return false;
}

// The list names its channels itself; the path's plays no part.
void PublishHandler::publishBatch(http::Exchange& exchange) const noexcept {
  const AnswerForm form = answerForm(exchange.request());
  const int64_t announced = exchange.hasBody() ? announcedBytes(exchange.request()) : 0;
  const PublishCounters& counters = publisher_->counters(exchange.context());
  if (!http::rangeCovers("application/json", exchange.request().get(http::FieldId::kContentType))) {
    counters.count(Refusal::kField);
    return replyRefused(exchange, 415, form,
                        "a list of messages is sent as application/json; PUT sends one message");
  }
  Publication asked;
  std::string_view fault =
      readPublication(exchange.request(), exchange.query(), publisher_->options().max_wait_ms, asked);
  if (fault.empty() && !exchange.hasBody()) fault = "there is no list of messages";
  if (fault.empty() && !asked.idempotency_key.empty())
    fault = "a list has no idempotency key; each of its messages may have one, as \"id_key\"";
  if (!fault.empty()) {
    counters.count(Refusal::kField);
    return replyRefused(exchange, 400, form, fault);
  }
  if (announced > int64_t{batch_->max_bytes}) {
    counters.count(Refusal::kSize);
    return replyRefused(exchange, 413, form, "the list is larger than it may be");
  }
  if (http::Trace* trace = exchange.trace()) trace->note("publishes a list of messages");
  takeBatch(exchange, *publisher_, batch_, {form, asked.wait_ms, publisher_->sourceOf(exchange)});
}

}  // namespace roost::modules::push
