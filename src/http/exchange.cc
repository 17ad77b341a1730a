#include "http/exchange.h"

#include <cassert>

#include "http/client_address.h"
#include "http/error_page.h"
#include "http/framed.h"
#include "log/log.h"

namespace roost::http {
namespace {

constexpr unsigned kStatusMask = 0x3ff;  // statuses have three digits

const char* textOf(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kContinue:
      return "goes on";
    case Verdict::kReplied:
      return "answers";
    case Verdict::kPaused:
      return "waits";
  }
  return "";
}

// What has become of a head, for people.
std::string changesOf(const ResponseHead& before, const ResponseHead& after) {
  std::string text;
  const auto say = [&text](std::string_view what, std::string_view name, std::string_view value) {
    text += text.empty() ? "" : ", ";
    text += what;
    text += name;
    if (!value.empty()) text.append(": ").append(value);
  };
  if (before.status != after.status) say("status ", std::to_string(after.status), {});
  after.forEach([&](std::string_view name, std::string_view value) {
    if (before.get(name) != value) say(before.has(name) ? "changes " : "adds ", name, value);
  });
  before.forEach([&](std::string_view name, std::string_view) {
    if (!after.has(name)) say("removes ", name, {});
  });
  return text.empty() ? "changes nothing" : text;
}

}  // namespace

void Exchange::start(LoopContext& context, StreamPort& port, const RequestHead& head, RequestState& state,
                     std::string_view host, std::string_view path, const Route& route, ServicePin& pin,
                     bool has_body) noexcept {
  context_ = &context;
  port_ = &port;
  state_ = &state;
  parked_ = false;
  state.head = &head;
  state.route = &route;
  state.pin = &pin;
  state.host = host;
  state.path = path;
  state.next_filter = 0;
  state.reroutes = 0;
  state.progress = {};
  state.progress.started_ns = context.loop().nowNs();
  head_request_ = head.method == Method::kHead;
  has_body_ = has_body;
  head_sent_ = false;
  aborted_ = paused_ = ends_with_peer_ = false;
  error_status_ = 0;
  if (const ClientAddress* rules = pin.service->options().client_address.get()) rules->apply(*this);
}

void Exchange::makeRequestId() const noexcept {
  context_->nextRequestId(state_->request_id);
  state_->has_request_id = true;
}

std::string_view Exchange::param(std::string_view name) const noexcept {
  const RouteParams& params = state_->params;
  for (size_t i = 0; i < params.count; ++i) {
    if (params.params[i].name == name) return state_->path.substr(params.params[i].off, params.params[i].len);
  }
  return {};
}

bool Exchange::countsFirst(const void* who) noexcept {
  auto& by = state_->counted_by;
  for (size_t i = 0; i < state_->counted; ++i) {
    if (by[i] == who) return false;
  }
  if (state_->counted < by.size()) by[state_->counted++] = who;
  return true;
}

void Exchange::runRoute() noexcept {
  const auto& filters = state_->route->request_filters;
  Trace* const told = trace();
  if (told != nullptr && state_->next_filter == 0)
    told->beginRoute(state_->host, state_->path, state_->route->path, *state_->route);
  while (state_->next_filter < filters.size()) {
    size_t step = 0;
    if (told != nullptr)
      step = told->begin(Trace::Kind::kFilter,
                         Route::Keys::at(state_->route->keys.request_filters, state_->next_filter));
    const Verdict verdict = filters[state_->next_filter++]->onRequest(*this);
    if (told != nullptr) told->settle(step, textOf(verdict));
    if (verdict == Verdict::kContinue) continue;
    if (verdict == Verdict::kPaused) paused_ = open();
    return;
  }
  if (told != nullptr) told->begin(Trace::Kind::kHandler, state_->route->keys.handler);
  state_->route->handler->handle(*this);
}

bool Exchange::reroute(std::string_view path, const std::string* query) noexcept {
  if (!open() || parked() || head_sent_) return false;
  if (++state_->reroutes > kMaxReroutes) {
    LOG_EVERY_SECOND(WARN, "{}: sent on from path to path without end", state_->path);
    replyError(500);
    return false;
  }
  if (query != nullptr) {
    state_->new_query = *query;
    state_->has_new_query = true;
  }
  goTo(path);
  state_->next_filter = 0;
  if (trace() != nullptr)
    trace()->note("goes on as " + state_->new_path + ", route \"" + state_->route->path + "\"");
  runRoute();
  return true;
}

void Exchange::answerAs(std::string_view path) {
  if (!open() || parked() || head_sent_) return;
  std::string moved(path);
  state_->new_path = std::move(moved);
  state_->path = state_->new_path;
  state_->params.count = 0;
  state_->answered_as = true;
}

void Exchange::goTo(std::string_view path) noexcept {
  std::string moved(path);  // it may be a part of the old one
  state_->new_path = std::move(moved);
  state_->path = state_->new_path;
  state_->answered_as = false;
  state_->route = &Router::findIn(*state_->route->site, state_->path, state_->params);
}

void Exchange::resume(Verdict verdict) noexcept {
  if (!open() || !paused_ || parked()) return;
  paused_ = false;
  if (trace() != nullptr) trace()->note(verdict == Verdict::kContinue ? "goes on" : "has answered");
  if (verdict == Verdict::kContinue) runRoute();
}

void Exchange::movedHead(std::string_view host, std::string_view path) noexcept {
  state_->host = host;
  if (state_->path.data() != state_->new_path.data()) state_->path = path;
}

void Exchange::listen(std::unique_ptr<ExchangeListener> listener) noexcept {
  if (!open()) return;
  std::swap(listener_, listener);
  if (listener != nullptr) context_->loop().destroyLater(event::makeTask([gone = std::move(listener)] {}));
  port_->wantBody();
}

void Exchange::filterHead(ResponseHead& head, bool fin) noexcept {
  head_sent_ = true;
  if (error_status_ != 0) {
    head.status = static_cast<int>(page_status_);
    // What the page's handler says of its file does not hold for the address that was asked for.
    if (page_status_ >= 300) {
      for (const char* name : {"ETag", "Last-Modified", "Accept-Ranges", "Cache-Control"}) head.remove(name);
    }
    const bool with_extra = !parked() && state_->error_extra != nullptr && page_status_ == error_status_;
    if (with_extra) head.addAll(*state_->error_extra);
  }
  if (Progress* kept = progress()) kept->status = head.status;
  if (parked()) return;
  if (trace() != nullptr) return filterHeadTold(*trace(), head, fin);
  const Route& asked = askedRoute();
  asked.filterHead(state_->path, head);
  for (const auto& filter : asked.response_filters) filter->onHead(*this, head);
  if (asked.compression != nullptr) asked.compression->onHead(*this, head, fin);
}

// Each filter by itself, and what it has made of the head.
void Exchange::filterHeadTold(Trace& trace, ResponseHead& head, bool fin) noexcept {
  const auto run = [&](std::string_view key, const auto& filter) {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the filter changes `head`.
    const ResponseHead before = head;
    const size_t step = trace.begin(Trace::Kind::kHead, key);
    filter();
    trace.settle(step, changesOf(before, head));
  };
  const Route& asked = askedRoute();
  for (size_t i = 0; i < asked.head_filters.size(); ++i) {
    run(Route::Keys::at(asked.keys.head_filters, i),
        [&] { asked.head_filters[i]->onHead(state_->path, head); });
  }
  for (size_t i = 0; i < asked.response_filters.size(); ++i) {
    run(Route::Keys::at(asked.keys.response_filters, i),
        [&] { asked.response_filters[i]->onHead(*this, head); });
  }
  if (asked.compression != nullptr)
    run(asked.keys.compression, [&] { asked.compression->onHead(*this, head, fin); });
}

// A second head would stand in the middle of the first answer's content.
bool Exchange::mayBegin() const noexcept {
  if (!open()) return false;
  assert(!head_sent_ && "an answer has begun already");
  return !head_sent_;
}

void Exchange::begin(ResponseHead& head, bool fin) noexcept {
  if (!mayBegin()) return;
  filterHead(head, fin);
  port_->sendHead(head, fin);
}

void Exchange::reply(ResponseHead& head, std::string_view body) noexcept {
  if (!mayBegin()) return;
  head.content_length = static_cast<int64_t>(body.size());
  begin(head, body.empty());
  if (!body.empty()) send(body, true);
}

// A stage takes content only.
SendResult Exchange::sendFramed(const BufferRef& framed) noexcept {
  if (!open()) return SendResult::kClosed;
  BodyStage* const stage = bodyStage();
  if (stage == nullptr) return port_->sendFramed(framed);
  const std::string_view content = contentOf(framed);
  return stage->sendShared(framed, static_cast<size_t>(content.data() - framed.data()), content.size(),
                           false);
}

void Exchange::reply(PreparedResponse& response, std::string_view lines) noexcept {
  if (!mayBegin()) return;
  head_sent_ = true;
  if (Progress* kept = progress()) kept->status = response.status();
  port_->sendPrepared(response, lines);
}

void Exchange::replyError(int status, const ResponseHead* extra) noexcept {
  if (!mayBegin()) return;
  if (error_status_ != 0) return replyWithoutPage(status);
  if (!parked()) {
    const auto page = state_->route->error_pages.find(status);
    if (page != state_->route->error_pages.end()) return fetchErrorPage(status, page->second, extra);
    // These pages are too short to be worth coding.
    const bool plain = extra == nullptr && mayReplyNegotiated() && state_->route->head_filters.empty();
    if (plain && Service::hasErrorBody(status)) return reply(state_->pin->errorPage(status));
  }
  ResponseHead head(status);
  if (extra != nullptr) head.addAll(*extra);
  replyOwnPage(head);
}

// The handler of the page's route answers, but with our status. Filters and observers stay those of the route
// that was asked: its fields are wanted on its errors too, its log counts them, and the page behind a
// password could otherwise never say that one is needed.
void Exchange::fetchErrorPage(int status, const ErrorPage& page, const ResponseHead* extra) noexcept {
  error_status_ = static_cast<unsigned>(status) & kStatusMask;
  page_status_ = static_cast<unsigned>(page.status != 0 ? page.status : status) & kStatusMask;
  state_->error_extra = extra != nullptr ? std::make_unique<ResponseHead>(*extra) : nullptr;
  if (trace() != nullptr) trace()->note("status " + std::to_string(status) + ": its page is " + page.path);
  state_->asked_route = state_->route;
  goTo(page.path);
  if (trace() != nullptr) {
    trace()->beginRoute(state_->host, state_->path, state_->route->path, *state_->route);
    trace()->begin(Trace::Kind::kHandler, state_->route->keys.handler);
  }
  state_->route->handler->handle(*this);
}

// The page for an error cannot be had, which is said with `status`: the client is told what was wrong at
// first.
void Exchange::replyWithoutPage(int status) noexcept {
  LOG_EVERY_SECOND(WARN, "the page {} for status {} is answered with {} itself",
                   parked() ? std::string_view{} : state_->path, errorStatus(), status);
  ResponseHead head(errorStatus());
  error_status_ = 0;
  if (!parked() && state_->error_extra != nullptr) head.addAll(*state_->error_extra);
  replyOwnPage(head);
}

void Exchange::replyOwnPage(ResponseHead& head) noexcept {
  const std::string_view body = parked() ? std::string_view{} : service().errorBody(head.status);
  if (!body.empty()) head.add("Content-Type", kErrorPageType);
  head.negotiated = true;  // not worth coding
  reply(head, body);
}

ByteStream* Exchange::upgrade(ResponseHead& head, std::unique_ptr<ByteStreamListener> listener) noexcept {
  if (!open() || head_sent_) return nullptr;
  filterHead(head, true);
  ByteStream* stream = port_->upgrade(head, std::move(listener));
  if (stream == nullptr) head_sent_ = false;
  return stream;
}

void Exchange::releaseService() noexcept {
  if (state_->pin != nullptr) context_->unpin(*std::exchange(state_->pin, nullptr));
}

// What is left once head and route are gone.
std::unique_ptr<ParkedState> Exchange::parkState() noexcept {
  if (!isWatched()) return nullptr;
  auto left = std::make_unique<ParkedState>();
  left->progress = state_->progress;
  for (const auto& observer : askedRoute().observers) {
    if (auto parked = observer->onPark(*this)) left->observers.push_back(std::move(parked));
  }
  left->attachments = std::move(state_->attachments);
  return left;
}

void Exchange::park() noexcept {
  if (!open() || parked()) return;
  std::unique_ptr<ParkedState> left = parkState();
  if (state_->stage != nullptr) {
    if (left == nullptr) {
      left = std::make_unique<ParkedState>();
      left->progress = state_->progress;
    }
    left->stage = std::move(state_->stage);
  }
  releaseService();
  state_->clear();
  parked_ = true;
  left_ = left.release();
  port_->parked();
}

ExchangeHandle Exchange::handle() {
  ExchangeTable& names = context_->exchanges();
  if (name_slot_ == ExchangeTable::kNone) name_slot_ = names.add(*this).slot;
  return {*context_, names.nameOf(name_slot_)};
}

Outcome Exchange::outcome() const noexcept {
  const Progress* kept = progress();
  if (kept == nullptr) return {};
  // The loop's time is that of the batch, in which most answers begin and end.
  return kept->outcome(isWatched() ? context_->loop().sys().monotonicNs() : context_->loop().nowNs());
}

void Exchange::end() noexcept {
  if (context_ != nullptr) finish(outcome());
}

std::unique_ptr<ParkedState> Exchange::endUntold() noexcept {
  std::unique_ptr<ParkedState> left = parked() ? nullptr : parkState();
  if (parked() && isWatched()) {
    dropStage(left_->stage);
    left.reset(std::exchange(left_, nullptr));
  }
  forget();
  return left;
}

void Exchange::finish(const Outcome& outcome) noexcept {
  if (!parked()) {
    for (const auto& observer : askedRoute().observers) observer->onEnd(*this, outcome);
  } else if (left_ != nullptr) {
    left_->tell(outcome);
  }
  forget();
}

// One of its own calls may be what brought this about.
void Exchange::dropStage(std::unique_ptr<BodyStage>& stage) noexcept {
  if (stage != nullptr) context_->loop().destroyLater(event::makeTask([gone = std::move(stage)] {}));
}

void Exchange::forget() noexcept {
  if (!parked_) {
    dropStage(state_->stage);
    state_->clear();
    releaseService();
    parked_ = true;
  } else if (left_ != nullptr) {
    dropStage(left_->stage);
    delete left_;
  }
  left_ = nullptr;
  if (name_slot_ != ExchangeTable::kNone)
    context_->exchanges().remove(std::exchange(name_slot_, ExchangeTable::kNone));
  // As with the stage.
  if (listener_ != nullptr) {
    context_->loop().destroyLater(event::makeTask([gone = std::move(listener_)] {}));
  }
  context_ = nullptr;
}

void Exchange::abort(AbortReason reason, int status, uint64_t content_bytes) noexcept {
  if (!open()) return;
  aborted_ = true;  // what the listener does now must not lead here again
  if (listener_ != nullptr) listener_->onAbort(reason);
  Outcome how = outcome();
  how.aborted = status == 0;
  how.reason = reason;
  if (status != 0) {
    how.status = status;
    how.content_bytes = content_bytes;
  }
  finish(how);
}

void ExchangeHandle::reply(std::unique_ptr<ResponseHead> head, BufferRef body) const {
  post([head = std::move(head), body = std::move(body)](Exchange& exchange) {
    if (!exchange.headSent()) exchange.reply(*head, body.view());
  });
}

}  // namespace roost::http
