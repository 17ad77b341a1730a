#include "tools/swarm/worker.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tools/swarm/head_reader.h"
#include "tools/swarm/proc_watch.h"

namespace roost::swarm {
namespace {

constexpr uint64_t kMostLooked = 1'000'000;  // requests never sent that are looked at one by one

int64_t threadCpuNs() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Worker::Worker(const Plan& plan, const Control& control, uint32_t index, Stats& stats)
    : plan_(plan),
      control_(control),
      stats_(stats),
      index_(index),
      schedule_(std::max(plan.scenario.rate, 1e-9), plan.scenario.clients, plan.threads, index),
      heads_(std::make_unique<HeadReader>(plan.scenario.method)) {
  const Scenario& wanted = plan.scenario;
  knows_bytes_ = wanted.expect_bytes >= 0;
  expected_bytes_ = knows_bytes_ ? static_cast<uint64_t>(wanted.expect_bytes) : 0;
  knows_hash_ = wanted.expect_body == BodyCheck::kHash;
  expected_hash_ = wanted.expect_hash;
}

Result<std::unique_ptr<Worker>> Worker::create(Sys& sys, const Plan& plan, const Control& control,
                                               uint32_t index, Stats& stats) {
  std::unique_ptr<Worker> worker(new Worker(plan, control, index, stats));
  auto loop = event::Loop::create(sys, index);
  if (!loop.ok()) return loop.status();
  worker->loop_ = std::move(loop).value();
  worker->context_ = std::make_unique<net::IoContext>(*worker->loop_);
  worker->context_->setLingerMs(0);
  const uint32_t own = worker->schedule_.ownClients();
  worker->clients_.reserve(own);
  for (uint32_t i = 0; i < own; ++i) worker->clients_.push_back(makeClient(*worker, i));
  worker->onTimer();
  return worker;
}

Worker::~Worker() {
  closing_ = true;
  context_.reset();  // its connections tell the clients that they close
  if (loop_ != nullptr) loop_->cancel(*this);
}

void Worker::run() noexcept {
  if (scenario().spin) {
    spin();
  } else {
    loop_->run();
  }
}

// Polls, and tells rounds that brought nothing from work by what has been counted meanwhile.
void Worker::spin() noexcept {
  const auto events = [this] {
    return stats_.bytes_in.value() + stats_.bytes_out.value() + stats_.attempts.value() +
           stats_.connected.value();
  };
  uint64_t before = events();
  int64_t last_ns = loop_->nowNs();
  while (!finished_) {
    loop_->runOnce(0);
    const int64_t now_ns = clockNs();
    const uint64_t after = events();
    if (after == before) idle_ns_ += now_ns - last_ns;
    before = after;
    last_ns = now_ns;
  }
}

// ---- time ----

void Worker::onTimer() noexcept {
  const int64_t now = clockNs();
  noteStall(now);
  armed_ns_ = Control::kNever;
  readControl(now);
  if (finished_) return;
  openMore(now);
  if (loading_ && scenario().rate > 0) pace(now);
  think(now);
  retry(now);
  wakeBy(nextWakeNs(now));
}

// What was to happen at armed_ns_ happens only now: something else had the processor, or stopped this
// program.
void Worker::noteStall(int64_t now_ns) noexcept {
  if (armed_ns_ == Control::kNever || now_ns - armed_ns_ < kStallNs) return;
  // One soon after another continues it: what the first delayed may not have been caught up with.
  if (armed_ns_ - stall_to_ns_ > stall_to_ns_ - stall_from_ns_) stall_from_ns_ = armed_ns_;
  stall_to_ns_ = now_ns;
}

void Worker::wakeBy(int64_t ns) noexcept {
  if (ns >= armed_ns_ || finished_) return;
  armed_ns_ = ns;
  loop_->armAt(*this, ns);
}

int64_t Worker::nextWakeNs(int64_t now_ns) const noexcept {
  const bool opening = opened_ < clients_.size() && now_ns >= connect_from_ns_;
  int64_t next = now_ns + (opening ? plan_.openingTickNs() : plan_.tickNs());
  for (const int64_t phase : {connect_from_ns_, load_from_ns_, measure_from_ns_, measure_to_ns_, end_ns_}) {
    if (phase > now_ns) next = std::min(next, phase);
  }
  if (loading_ && scenario().rate > 0 && now_ns < measure_to_ns_) {
    next = std::min(next, load_from_ns_ + schedule_.dueNs(paced_));
  }
  if (!thinking_.empty()) next = std::min(next, thinking_.front().due_ns);
  if (!away_.empty()) next = std::min(next, away_.front().due_ns);
  return std::max(next, now_ns + 1);
}

void Worker::readControl(int64_t now_ns) noexcept {
  const auto read = [](const std::atomic<int64_t>& when) { return when.load(std::memory_order_acquire); };
  connect_from_ns_ = read(control_.connect_from_ns);
  load_from_ns_ = read(control_.load_from_ns);
  measure_from_ns_ = read(control_.measure_from_ns);
  measure_to_ns_ = read(control_.measure_to_ns);
  end_ns_ = read(control_.end_ns);
  if (stats_.begin.at_ns == 0 && now_ns >= measure_from_ns_) mark(stats_.begin, now_ns);
  if (!loading_ && now_ns >= load_from_ns_) beginLoad(now_ns);
  if (stats_.end.at_ns == 0 && stats_.begin.at_ns != 0 && now_ns >= measure_to_ns_) mark(stats_.end, now_ns);
  if (now_ns >= measure_to_ns_ && scenario().asksAtEnd() && !asked_at_end_) askAtEnd();
  const bool waits = stats_.waiting.value() > 0 || (scenario().listens() && !asked_at_end_);
  if (now_ns >= end_ns_ || (now_ns >= measure_to_ns_ && !waits)) closeAll();
}

void Worker::mark(WindowMark& mark, int64_t now_ns) noexcept {
  mark.at_ns = now_ns;
  mark.cpu_ns = threadCpuNs();
  mark.waited_ns = ownWaitedNs();
  mark.idle_ns = idle_ns_;
  mark.requests = stats_.requests.value();
  mark.replies = stats_.replies.value();
  mark.messages = stats_.messages.value();
  mark.bytes_in = stats_.bytes_in.value();
  mark.bytes_out = stats_.bytes_out.value();
}

// ---- the end ----

void Worker::closeAll() noexcept {
  if (finished_) return;
  const int64_t now = clockNs();
  if (stats_.begin.at_ns == 0) mark(stats_.begin, now);
  if (stats_.end.at_ns == 0) mark(stats_.end, now);
  closing_ = true;
  finished_ = true;
  stats_.unanswered = static_cast<uint64_t>(std::max<int64_t>(stats_.waiting.value(), 0));
  if (scenario().rate > 0 && loading_) countUnsent(now);
  if (asked_at_end_) stats_.errors[static_cast<size_t>(ErrorKind::kTimeout)].add(stats_.unanswered);
  for (const auto& client : clients_) {
    if (const uint64_t missing = client->missing(); missing > 0) {
      stats_.errors[static_cast<size_t>(ErrorKind::kLost)].add(missing);
    }
    if (client->connection_ != nullptr) client->leave();
  }
  loop_->stop();
}

// How many requests of a client are due before a moment.
uint64_t Worker::dueOf(const Client& client, int64_t until_ns) const noexcept {
  // The clients take turns: those before this one in the turn that is not over have had one more.
  const uint64_t all = schedule_.dueBefore(until_ns - load_from_ns_);
  const uint64_t due = (all + clients_.size() - 1 - client.own_index_) / clients_.size();
  const uint64_t most = scenario().requests_per_client;
  return most > 0 ? std::min(due, most) : due;
}

// Of a request that was not sent when it was due: whether the client could have sent it.
bool Worker::ownFault(const Client& client, int64_t due_ns) const noexcept {
  if (due_ns >= stall_from_ns_ && due_ns < stall_to_ns_) return true;
  return client.state_ == Client::State::kIdle && client.sent_ns_ < measure_to_ns_;
}

// What was due and has not been sent or answered has waited until now at least: left out, the latencies
// would be those of the requests that fared well.
void Worker::countUnsent(int64_t now_ns) noexcept {
  const int64_t until = std::min(measure_to_ns_, now_ns);
  const auto least = [&](int64_t due_ns, uint64_t times) {
    if (!measuring(due_ns)) return;
    stats_.latency.record(static_cast<uint64_t>(std::max<int64_t>(now_ns - due_ns, 0)), times);
    stats_.least_latency += times;
  };
  const uint64_t all = schedule_.dueBefore(until - load_from_ns_);
  const uint64_t stride = std::max<uint64_t>((all - std::min(all, stats_.requests.value())) / kMostLooked, 1);
  for (const auto& owned : clients_) {
    const Client& client = *owned;
    if (client.state_ == Client::State::kWaiting) least(client.due_ns_, 1);
    const uint64_t due = dueOf(client, until);
    for (uint64_t n = client.asked_; n < due; n += stride) {
      const int64_t due_ns = load_from_ns_ + schedule_.dueNs(client.own_index_, n);
      const uint64_t times = std::min(stride, due - n);
      const bool own = ownFault(client, due_ns);
      (own ? stats_.unsent_own : stats_.unsent) += times;
      if (own && measuring(due_ns)) {
        stats_.send_delay.record(static_cast<uint64_t>(std::max<int64_t>(now_ns - due_ns, 0)), times);
      }
      least(due_ns, times);
    }
  }
}

// ---- load ----

void Worker::askAtEnd() noexcept {
  asked_at_end_ = true;
  for (const auto& client : clients_) {
    if (client->state_ != Client::State::kIdle) continue;
    client->connection_->setDeadline(scenario().timeout_ms);
    ask(*client, 0, clockNs());
  }
}

void Worker::beginLoad(int64_t now_ns) noexcept {
  loading_ = true;
  if (scenario().rate > 0 || scenario().listens() || scenario().asksAtOnce()) return;
  for (size_t i = 0; i < clients_.size(); ++i) {
    Client& client = *clients_[i];
    if (client.state_ != Client::State::kIdle) continue;
    if (scenario().think_ns == 0) {
      ask(client, 0, clockNs());
      continue;
    }
    // They do not all begin at once, but spread over one time of thinking.
    const double part = static_cast<double>(i) / static_cast<double>(clients_.size());
    thinkUntil(client, now_ns + static_cast<int64_t>(part * static_cast<double>(scenario().think_ns)));
  }
}

void Worker::pace(int64_t now_ns) noexcept {
  const int64_t until = std::min(now_ns, measure_to_ns_ - 1);
  for (;; ++paced_) {
    const int64_t due = load_from_ns_ + schedule_.dueNs(paced_);
    if (due > until) return;
    Client& client = *clients_[paced_ % clients_.size()];
    // A client that is behind its schedule goes on by itself when it is answered.
    if (client.state_ != Client::State::kIdle || client.asked_ != paced_ / clients_.size()) continue;
    const int64_t now = clockNs();
    if (measuring(due)) stats_.send_delay.record(static_cast<uint64_t>(now - due));
    ask(client, due, now);
  }
}

// What an idle client does next.
void Worker::goOn(Client& client, int64_t now_ns) noexcept {
  if (closing_ || now_ns >= measure_to_ns_ || scenario().listens()) return;
  if (scenario().rate > 0) {
    const int64_t due = load_from_ns_ + schedule_.dueNs(client.own_index_, client.asked_);
    if (due <= now_ns) ask(client, due, now_ns);
  } else if (client.think_until_ns_ <= now_ns) {
    ask(client, now_ns, now_ns);
  }
}

// A client thinks on while its connection is lost and opened again.
void Worker::thinkUntil(Client& client, int64_t ns) noexcept {
  client.think_until_ns_ = ns;
  thinking_.push_back({ns, &client});
  wakeBy(thinking_.front().due_ns);
}

void Worker::think(int64_t now_ns) noexcept {
  while (!thinking_.empty() && thinking_.front().due_ns <= now_ns) {
    const Later later = thinking_.front();
    Client& client = *later.client;
    thinking_.pop_front();
    // Without a connection now it asks as soon as it has one. It may have asked already, and think anew.
    const bool still = client.state_ == Client::State::kIdle && client.think_until_ns_ == later.due_ns;
    if (!still || now_ns >= measure_to_ns_) continue;
    if (scenario().listens()) {
      client.ask();
    } else {
      ask(client, 0, clockNs());
    }
  }
}

// `due_ns` 0: now.
void Worker::ask(Client& client, int64_t due_ns, int64_t now_ns) noexcept {
  client.due_ns_ = due_ns == 0 ? now_ns : due_ns;
  client.sent_ns_ = now_ns;
  client.state_ = Client::State::kWaiting;
  client.was_asked_ = true;
  stats_.waiting.add(scenario().pipeline);
  stats_.requests.add(scenario().pipeline);
  client.ask();
  ++client.asked_;
}

void Worker::onAnswered(Client& client) noexcept {
  const int64_t now = clockNs();
  const int64_t service = now - client.sent_ns_;
  stats_.replies.add();
  stats_.waiting.sub();
  client.state_ = Client::State::kIdle;
  client.sent_ns_ = now;
  if (measuring(client.due_ns_) || asked_at_end_) {
    stats_.latency.record(static_cast<uint64_t>(std::max<int64_t>(now - client.due_ns_, 0)));
    if (scenario().rate > 0) stats_.service.record(static_cast<uint64_t>(std::max<int64_t>(service, 0)));
  }
  if (scenario().expect_min_ns > service) {
    count(ErrorKind::kTooEarly, client, fmt::format("after {:.3f} ms", static_cast<double>(service) / 1e6));
  } else if (scenario().expect_max_ns > 0 && service > scenario().expect_max_ns) {
    count(ErrorKind::kTooLate, client, fmt::format("after {:.3f} ms", static_cast<double>(service) / 1e6));
  }
  if (scenario().think_ns > 0 && now < measure_to_ns_) thinkUntil(client, now + scenario().think_ns);
  const bool enough = scenario().requests_per_client > 0 && client.asked_ >= scenario().requests_per_client;
  if (enough) {
    onDone(client);
  } else if (client.ends_well_) {
    client.state_ = Client::State::kLeaving;  // and is opened anew when the server has ended it
  } else if (loading_ || scenario().asksAtOnce()) {
    goOn(client, now);
  }
}

void Worker::onPart(const Client& client) noexcept {
  stats_.replies.add();
  stats_.waiting.sub();
  if (measuring(client.due_ns_)) stats_.latency.record(static_cast<uint64_t>(clockNs() - client.due_ns_));
}

void Worker::onInVain(const Client& client, uint32_t requests) noexcept {
  stats_.waiting.sub(requests);
  if (closing_) return;  // they are unanswered
  note(ErrorKind::kInVain, client, fmt::format("{} requests behind the connection's last answer", requests));
  stats_.errors[static_cast<size_t>(ErrorKind::kInVain)].add(requests);
}

void Worker::onDone(Client& client) noexcept {
  client.state_ = Client::State::kDone;
  stats_.done.add();
  if (++done_ == clients_.size() && stats_.end.at_ns == 0) {
    const int64_t now = clockNs();
    if (stats_.begin.at_ns == 0) mark(stats_.begin, now);
    mark(stats_.end, now);
  }
}

void Worker::count(ErrorKind kind, const Client& client, const std::string& detail) noexcept {
  note(kind, client, detail);
  stats_.errors[static_cast<size_t>(kind)].add();
}

void Worker::note(ErrorKind kind, const Client& client, const std::string& detail) noexcept {
  std::string& first = stats_.first_error[static_cast<size_t>(kind)];
  if (first.empty()) first = fmt::format("client {}: {}", runIndex(client.own_index_), detail);
}

uint64_t Worker::expectedMessages() const noexcept {
  if (!scenario().publishes()) return scenario().expect_messages;
  return control_.published.load(std::memory_order_acquire);
}

uint64_t Worker::expectedBytes(uint64_t first) noexcept {
  if (!knows_bytes_) {
    int64_t agreed = Agreed::kNothing;
    const auto own = static_cast<int64_t>(first);
    expected_bytes_ =
        plan_.agreed.bytes.compare_exchange_strong(agreed, own) ? first : static_cast<uint64_t>(agreed);
    knows_bytes_ = true;
  }
  return expected_bytes_;
}

uint64_t Worker::expectedHash(uint64_t first) noexcept {
  if (!knows_hash_) {
    uint64_t agreed = 0;  // no content has this hash in practice
    expected_hash_ = plan_.agreed.hash.compare_exchange_strong(agreed, first) ? first : agreed;
    knows_hash_ = true;
    stats_.has_body_hash = true;
    stats_.body_hash = expected_hash_;
  }
  return expected_hash_;
}

}  // namespace roost::swarm
