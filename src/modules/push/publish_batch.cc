#include "modules/push/publish_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "http/exchange.h"
#include "http/template.h"
#include "modules/push/batch.h"

namespace roost::modules::push {
namespace {

using ::roost::push::PublishResult;
using ::roost::push::PublishStatus;

// A longer list is not read on a loop.
constexpr size_t kInlineBytes = 32 << 10;
// Messages published in one go. The next follow when those that listen have the last of them, or after a
// while: a long list does not flood its channels.
constexpr size_t kSlice = 256;
constexpr uint32_t kPaceMs = 100;

// A list under way. Shared by the calls of its messages, whose last one answers; where the hub ends first,
// whoever lets go of it last.
class BatchRun {
 public:
  BatchRun(http::ExchangeHandle name, Batch batch, const BatchOrder& order)
      : name_(name),
        order_(order),
        entries_(std::move(batch.entries)),
        results_(entries_.size()),
        left_(entries_.size() + 1) {}
  ~BatchRun() {
    if (left_ == 0) return;
    name_.post([form = order_.form](http::Exchange& exchange) {
      replyRefused(exchange, 503, form, "the server is stopping");
    });
  }
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  // Publishes from the entry `from` on, slice by slice, as long as the client waits for the answer.
  static void publish(const std::shared_ptr<BatchRun>& run, http::LoopContext& context,
                      const Publisher& publisher, size_t from);
  static void onResult(const std::shared_ptr<BatchRun>& run, const Publisher& publisher, size_t index,
                       const PublishResult& result) noexcept {
    run->results_[index] = result;
    if (index == run->paces_) publishMore(run, publisher, index + 1);
    run->onDone();
  }

 private:
  static void publishMore(const std::shared_ptr<BatchRun>& run, const Publisher& publisher, size_t from) {
    run->name_.post([run, &publisher, from](http::Exchange& exchange) {
      publish(run, exchange.context(), publisher, from);
    });
  }
  // Sets those of a slice aside that come faster than they may.
  void admit(const Publisher& publisher, size_t from, size_t end, int64_t now_ns) noexcept;
  void onDone() noexcept {
    if (--left_ > 0) return;
    if (http::Exchange* exchange = name_.find()) reply(*exchange);
  }
  void reply(http::Exchange& exchange) const;
  void append(std::string& out, size_t index) const;
  int statusOf(size_t index) const noexcept {
    return entries_[index].status != 0 ? entries_[index].status : push::statusOf(results_[index]);
  }

  const http::ExchangeHandle name_;
  const BatchOrder order_;
  std::vector<BatchEntry> entries_;
  std::vector<PublishResult> results_;
  int64_t too_fast_ns_ = 0;  // how long those have to wait that came too fast
  size_t paces_ = SIZE_MAX;  // whose result lets the next slice begin
  size_t left_;              // messages without a result, and one until all have been asked for
};

class BatchCall final : public ::roost::push::PublishCall {
 public:
  // `publisher` lives as long as the exchange's route, and is used while that is there.
  BatchCall(std::shared_ptr<BatchRun> run, const Publisher& publisher, const PublishCounters& counters,
            size_t index, size_t bytes) noexcept
      : run_(std::move(run)), publisher_(publisher), counters_(counters), index_(index), bytes_(bytes) {}
  void onPublished(const PublishResult& result) noexcept override {
    counters_.count(result, bytes_);
    BatchRun::onResult(run_, publisher_, index_, result);
  }

 private:
  const std::shared_ptr<BatchRun> run_;
  const Publisher& publisher_;
  const PublishCounters& counters_;
  const size_t index_;
  const size_t bytes_;
};

void BatchRun::publish(const std::shared_ptr<BatchRun>& run, http::LoopContext& context,
                       const Publisher& publisher, size_t from) {
  const PublishCounters& counters = publisher.counters(context);
  const size_t end = std::min(run->entries_.size(), from + kSlice);
  const bool more = end < run->entries_.size();
  run->admit(publisher, from, end, context.loop().nowNs());
  run->paces_ = more && run->entries_[end - 1].status == 0 ? end - 1 : SIZE_MAX;
  for (size_t i = from; i < end; ++i) {
    BatchEntry& entry = run->entries_[i];
    if (entry.status != 0) {
      counters.count(entry.refusal);
      run->onDone();
      continue;
    }
    entry.message.wait_ms = i == run->paces_ ? std::max(run->order_.wait_ms, kPaceMs) : run->order_.wait_ms;
    auto call = std::make_unique<BatchCall>(run, publisher, counters, i, entry.message.payload.size());
    publisher.publish(context, entry.channel, std::move(entry.message), std::move(call));
  }
  if (!more) return run->onDone();
  if (run->paces_ == SIZE_MAX) publishMore(run, publisher, end);
}

void BatchRun::admit(const Publisher& publisher, size_t from, size_t end, int64_t now_ns) noexcept {
  for (size_t i = from; i < end; ++i) {
    BatchEntry& entry = entries_[i];
    if (entry.status != 0) continue;
    const int64_t wait_ns = publisher.admit(order_.source, entry.channel, now_ns);
    if (wait_ns == 0) continue;
    too_fast_ns_ = std::max(too_fast_ns_, wait_ns);
    entry.status = 429;
    entry.refusal = Refusal::kRate;
    entry.fault = kTooFast;
  }
}

void BatchRun::append(std::string& out, size_t index) const {
  const BatchEntry& entry = entries_[index];
  const PublishResult& result = results_[index];
  const bool published = entry.status == 0 && result.status == PublishStatus::kPublished;
  out += "{\"channel\": \"";
  http::appendEscaped(out, entry.channel, http::Escape::kJson);
  fmt::format_to(std::back_inserter(out), "\", \"status\": {}, ", statusOf(index));
  if (published) {
    const Waited waited{result.delivered, result.last_delivery_ns, result.all_delivered};
    appendJsonMembers(out, result.channel, order_.wait_ms > 0 ? &waited : nullptr);
    if (result.repeated) out += ", \"replayed\": true";
  } else {
    out += "\"error\": \"";
    http::appendEscaped(out, entry.status != 0 ? entry.fault : textOf(result.status), http::Escape::kJson);
    out += '"';
  }
  out += '}';
}

void BatchRun::reply(http::Exchange& exchange) const {
  std::string body = "[";
  int later = 0;  // 503, or else 429, where one of them is to be sent again
  const bool has_room = memory::forAnswer([&] {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (i > 0) body += ",\n ";
      append(body, i);
      const int status = statusOf(i);
      if (status == 503 || status == 429) later = std::max(later, status);
    }
    body += "]\n";
  });
  if (!has_room) {
    exchange.context().noteNoMemory();
    return replyRefused(exchange, 507, order_.form,
                        "the list is published, but there is no memory for the answer");
  }
  http::ResponseHead head(200);
  addRetryAfter(head, later, later == 429 ? too_fast_ns_ : 0);
  head.add("Content-Type",
           contentType(order_.form == AnswerForm::kTextJson ? AnswerForm::kTextJson : AnswerForm::kJson));
  exchange.reply(head, body);
}

// What is done with a list that has been read, on the exchange's loop.
void run(http::Exchange& exchange, const Publisher& publisher, Batch batch, const BatchOrder& order) {
  if (batch.status != 200) {
    const PublishCounters& counters = publisher.counters(exchange.context());
    if (batch.status == 503) {
      counters.count(Refusal::kMemory);
      return replyNoMemory(exchange, order.form);
    }
    counters.count(batch.status == 413 ? Refusal::kSize : Refusal::kField);
    return replyRefused(exchange, batch.status, order.form, batch.fault);
  }
  std::shared_ptr<BatchRun> started;
  const http::ExchangeHandle name = exchange.handle();
  if (!memory::forPeer([&] { started = std::make_shared<BatchRun>(name, std::move(batch), order); })) {
    publisher.counters(exchange.context()).count(Refusal::kMemory);
    return replyNoMemory(exchange, order.form);
  }
  BatchRun::publish(started, exchange.context(), publisher, 0);
}

// Gathers the list. Owned by the exchange, whose route keeps the publisher.
class ListReceiver final : public http::ExchangeListener {
 public:
  ListReceiver(http::Exchange& exchange, const Publisher& publisher,
               std::shared_ptr<const BatchOptions> limits, const BatchOrder& order)
      : exchange_(exchange), publisher_(publisher), limits_(std::move(limits)), order_(order) {}

  void onBody(std::string_view piece, bool fin) noexcept override {
    if (done_) return exchange_.consumed(piece.size());
    if (text_.size() + piece.size() > limits_->max_bytes) {
      done_ = true;
      publisher_.counters(exchange_.context()).count(Refusal::kSize);
      return replyRefused(exchange_, 413, order_.form, "the list is larger than it may be");
    }
    if (!memory::forPeer([&] { text_.append(piece); })) {
      done_ = true;
      text_ = {};
      publisher_.counters(exchange_.context()).count(Refusal::kMemory);
      return replyNoMemory(exchange_, order_.form);
    }
    if (!fin) return exchange_.consumed(piece.size());
    done_ = true;
    if (text_.size() <= kInlineBytes || !readElsewhere()) {
      const uint32_t max = publisher_.options().max_message_bytes;
      run(exchange_, publisher_, readBatch(text_, *limits_, max), order_);
    }
  }

 private:
  // False where there is no thread for it.
  bool readElsewhere() noexcept {
    auto text = std::make_shared<std::string>(std::move(text_));
    std::unique_ptr<event::Task> task =
        event::makeTask([text, limits = limits_, max = publisher_.options().max_message_bytes, order = order_,
                         name = exchange_.handle(), &publisher = publisher_] {
          auto batch = std::make_unique<Batch>(readBatch(*text, *limits, max));
          // Its route is there while the exchange is.
          name.post([batch = std::move(batch), order, &publisher](http::Exchange& exchange) {
            run(exchange, publisher, std::move(*batch), order);
          });
        });
    if (exchange_.context().tasks().submit(task)) return true;
    text_ = std::move(*text);
    return false;
  }

  http::Exchange& exchange_;
  const Publisher& publisher_;
  const std::shared_ptr<const BatchOptions> limits_;
  const BatchOrder order_;
  std::string text_;
  bool done_ = false;
};

}  // namespace

void takeBatch(http::Exchange& exchange, const Publisher& publisher,
               std::shared_ptr<const BatchOptions> limits, const BatchOrder& order) {
  exchange.listen(std::make_unique<ListReceiver>(exchange, publisher, std::move(limits), order));
}

}  // namespace roost::modules::push
