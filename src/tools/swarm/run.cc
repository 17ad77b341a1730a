#include "tools/swarm/run.h"

#include <time.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/fd_table.h"
#include "tools/swarm/publisher.h"

namespace roost::swarm {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStepNs = 20'000'000;  // how often the main thread looks
constexpr size_t kMostSamples = 4000;
constexpr int64_t kPatienceNs = 30 * kSecondNs;  // with connecting, beyond what rate and timeout make of it

int64_t nowNs() noexcept {
  return realSys().monotonicNs();
}

double seconds(int64_t ns) noexcept {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

std::string_view phaseName(Phase phase) noexcept {
  constexpr std::string_view kNames[] = {"connecting", "settling", "warming up",
                                         "measuring",  "draining", "over"};
  return kNames[static_cast<size_t>(phase)];
}

struct Run::Thread {
  explicit Thread(uint32_t number) : index(number) {}
  uint32_t index;
  Stats stats;
  Status status;
  bool shared_table = false;
  std::thread thread;
};

Run::Run(const Plan& plan, const std::atomic<int>& interrupts, std::function<void(const Sample&)> watch)
    : plan_(plan), interrupts_(interrupts), watch_(std::move(watch)) {}

Run::~Run() {
  setTime(control_.end_ns, 0);
  setTime(control_.measure_to_ns, 0);
  for (const auto& thread : threads_) {
    if (thread->thread.joinable()) thread->thread.join();
  }
}

// A thread with a table of descriptors of its own, which runs what `make` makes there.
template <class Make>
Status Run::startThread(uint32_t index, const Make& make) {
  threads_.push_back(std::make_unique<Thread>(index));
  Thread& thread = *threads_.back();
  const auto body = [this, &thread, make] {
    thread.shared_table = !splitFdTable({}).ok();
    auto made = make(thread);
    if (!made.ok()) thread.status = made.status();
    up_.fetch_add(1, std::memory_order_release);
    if (made.ok()) (*made)->run();
  };
  try {
    thread.thread = std::thread(body);
  } catch (const std::system_error& error) {
    return Status::fromErrno(error.code().value(), "start a thread");
  }
  return {};
}

Status Run::startThreads() {
  Status status;
  for (uint32_t i = 0; i < plan_.threads && status.ok(); ++i) {
    status = startThread(i, [this](Thread& thread) {
      return Worker::create(realSys(), plan_, control_, thread.index, thread.stats);
    });
  }
  if (status.ok() && plan_.scenario.publishes()) {
    status = startThread(plan_.threads, [this](Thread& thread) {
      return Publisher::create(realSys(), plan_, control_, thread.stats);
    });
  }
  if (!status.ok()) return status;
  while (up_.load(std::memory_order_acquire) < threads_.size()) {
    const timespec step{0, 1'000'000};
    ::nanosleep(&step, nullptr);
  }
  for (const auto& thread : threads_) {
    if (!thread->status.ok()) return thread->status;
  }
  return {};
}

Status Run::execute(Outcome& outcome) {
  outcome.own.before = readProcesses({-1});
  Status status = startThreads();
  if (!status.ok()) return status;
  outcome.server.before = readProcesses(plan_.scenario.pids);
  outcome.kernel_before = readKernel();
  connectAll(outcome);
  holdStill(outcome);
  outcome.too_few = plan_.scenario.require_all && outcome.held < plan_.scenario.clients;
  if (outcome.held > 0 && !outcome.too_few) {
    load(outcome);
  } else {
    setTime(control_.measure_to_ns, nowNs());  // there is nobody to measure
  }
  drain(outcome);
  for (const auto& thread : threads_) thread->thread.join();
  outcome.interrupted = interrupts_.load() > 0;
  outcome.server_ended = !plan_.scenario.pids.empty() && !readProcesses(plan_.scenario.pids).ok;
  sum(outcome);
  return {};
}

// ---- phases ----

// Phases are announced so long before that every thread has looked by then.
int64_t Run::aheadNs() const noexcept {
  return 3 * plan_.tickNs();
}

void Run::connectAll(Outcome& outcome) {
  const Scenario& scenario = plan_.scenario;
  begin_ns_ = last_ns_ = nowNs() + aheadNs();
  next_sample_ns_ = begin_ns_;
  // Those who are only there, or wait from the beginning, count from the beginning.
  if (scenario.asksAtOnce()) setTime(control_.measure_from_ns, begin_ns_);
  setTime(control_.connect_from_ns, begin_ns_);
  if (scenario.asksAtOnce()) outcome.server.begin = readProcesses(scenario.pids);
  int64_t patience_ns = kPatienceNs + int64_t{scenario.connect_timeout_ms} * 1'000'000;
  if (scenario.connect_rate > 0) {
    patience_ns += static_cast<int64_t>(scenario.clients / scenario.connect_rate * 1e9);
  } else {
    patience_ns += int64_t{scenario.clients} * 1'000'000;
  }
  waitUntil(begin_ns_ + patience_ns, Phase::kConnecting, outcome,
            [&](const Sample& sample) { return sample.settled >= scenario.clients; });
}

// Lets both sides come to rest, then reads what the connections cost.
void Run::holdStill(Outcome& outcome) {
  waitUntil(nowNs() + plan_.scenario.settle_ns, Phase::kSettling, outcome, nullptr);
  outcome.held = look(Phase::kSettling, outcome).open;
  outcome.server.held = readProcesses(plan_.scenario.pids);
  outcome.own.held = readProcesses({-1});
  outcome.kernel_held = readKernel();
}

void Run::load(Outcome& outcome) {
  const Scenario& scenario = plan_.scenario;
  const bool at_once = scenario.asksAtOnce();
  const int64_t load_from = nowNs() + aheadNs();
  const int64_t measure_from = load_from + (at_once || scenario.listens() ? 0 : scenario.warmup_ns);
  const int64_t measure_to = measure_from + scenario.duration_ns;
  if (!at_once) setTime(control_.measure_from_ns, measure_from);
  setTime(control_.measure_to_ns, measure_to);
  setTime(control_.load_from_ns, load_from);
  const auto all_done = [&](const Sample& sample) { return sample.done >= scenario.clients; };
  bool goes_on = interrupts_.load() == 0;
  if (goes_on && !at_once) goes_on = waitUntil(measure_from, Phase::kWarming, outcome, all_done);
  if (!at_once) outcome.server.begin = readProcesses(scenario.pids);
  if (goes_on) goes_on = waitUntil(measure_to, Phase::kMeasuring, outcome, all_done);
  outcome.server.end = readProcesses(scenario.pids);
  if (nowNs() < measure_to) setTime(control_.measure_to_ns, nowNs());
}

void Run::drain(Outcome& outcome) {
  const Scenario& scenario = plan_.scenario;
  const bool waits = (!scenario.listens() || scenario.asksAtEnd()) && interrupts_.load() == 0;
  const int64_t end = nowNs() + (waits ? scenario.drain_ns : 0);
  const int64_t asked_by = nowNs() + aheadNs();  // those who are asked at the end have been
  waitUntil(end, Phase::kDraining, outcome,
            [asked_by](const Sample& sample) { return sample.waiting == 0 && nowNs() > asked_by; });
  setTime(control_.end_ns, nowNs());
}

// ---- watching ----

bool Run::waitUntil(int64_t ns, Phase phase, Outcome& outcome,
                    const std::function<bool(const Sample&)>& done) {
  for (;;) {
    const int64_t now = nowNs();
    const Sample sample = look(phase, outcome);
    if (interrupts_.load() > 0) return false;
    if (now >= ns || (done && now > begin_ns_ && done(sample))) return true;
    const timespec step{0, std::min(kStepNs, ns - now)};
    ::nanosleep(&step, nullptr);
  }
}

// How far away the end of all is, as far as it can be known.
int64_t Run::endOfRunNs() const noexcept {
  const Scenario& scenario = plan_.scenario;
  const int64_t to = control_.measure_to_ns.load();
  if (to != Control::kNever) return to;
  const double connecting_s = scenario.connect_rate > 0 ? scenario.clients / scenario.connect_rate : 0;
  const int64_t warmup_ns = scenario.asksAtOnce() || scenario.listens() ? 0 : scenario.warmup_ns;
  return begin_ns_ + static_cast<int64_t>(connecting_s * 1e9) + scenario.settle_ns + warmup_ns +
         scenario.duration_ns;
}

Sample Run::look(Phase phase, Outcome& outcome) {
  const int64_t now = nowNs();
  Sample sample;
  sample.phase = phase;
  sample.at_s = seconds(now - begin_ns_);
  for (const auto& thread : threads_) {
    const Stats& stats = thread->stats;
    sample.open += static_cast<uint64_t>(std::max<int64_t>(stats.open.value(), 0));
    sample.waiting += static_cast<uint64_t>(std::max<int64_t>(stats.waiting.value(), 0));
    sample.settled += static_cast<uint64_t>(stats.settled.value());
    sample.done += static_cast<uint64_t>(stats.done.value());
    sample.replies += stats.replies.value();
    sample.messages += stats.messages.value();
    sample.errors += stats.errorCount();
  }
  if (now < next_sample_ns_) return sample;
  const int64_t end = endOfRunNs();
  sample.remaining_s = std::max(0.0, seconds(end - now));
  sample.part =
      end > begin_ns_ ? std::clamp(seconds(now - begin_ns_) / seconds(end - begin_ns_), 0.0, 1.0) : 1;
  const double passed_s = seconds(now - last_ns_);
  const uint64_t events = sample.replies + sample.messages - last_.replies - last_.messages;
  sample.rate = passed_s > 0 ? static_cast<double>(events) / passed_s : 0;
  for (const auto& thread : threads_) {
    const Stats& stats = thread->stats;
    const Latencies& shown = plan_.scenario.listens() ? stats.delivery : stats.latency;
    sample.p99_ns = std::max(sample.p99_ns, shown.percentile(99));
  }
  next_sample_ns_ = now + sample_every_ns_;
  last_ns_ = now;
  last_ = sample;
  outcome.samples.push_back(sample);
  if (outcome.samples.size() >= kMostSamples) {  // a long run: half as fine from here on
    size_t kept = 0;
    for (size_t i = 0; i < outcome.samples.size(); i += 2) outcome.samples[kept++] = outcome.samples[i];
    outcome.samples.resize(kept);
    sample_every_ns_ *= 2;
  }
  if (watch_) watch_(sample);
  return sample;
}

// ---- the end ----

void Run::addCounts(const Stats& stats, Stats& total) {
  total.attempts.add(stats.attempts.value());
  total.connected.add(stats.connected.value());
  total.reopened.add(stats.reopened.value());
  total.done.add(stats.done.value());
  total.requests.add(stats.requests.value());
  total.replies.add(stats.replies.value());
  total.messages.add(stats.messages.value());
  total.bytes_in.add(stats.bytes_in.value());
  total.bytes_out.add(stats.bytes_out.value());
  total.empty_answers.add(stats.empty_answers.value());
  total.published.add(stats.published.value());
  for (size_t i = 0; i < kErrorKinds; ++i) {
    total.errors[i].add(stats.errors[i].value());
    if (total.first_error[i].empty()) total.first_error[i] = stats.first_error[i];
  }
  total.connect.merge(stats.connect);
  total.latency.merge(stats.latency);
  total.service.merge(stats.service);
  total.send_delay.merge(stats.send_delay);
  total.delivery.merge(stats.delivery);
  total.publishing.merge(stats.publishing);
  total.broadcasts.merge(stats.broadcasts);
  total.unanswered += stats.unanswered;
  total.unsent += stats.unsent;
  total.unsent_own += stats.unsent_own;
  total.least_latency += stats.least_latency;
  total.last_connect_ns = std::max(total.last_connect_ns, stats.last_connect_ns);
  if (stats.head_bytes > 0) total.head_bytes = stats.head_bytes;
  if (stats.has_body_hash) {
    total.has_body_hash = true;
    total.body_hash = stats.body_hash;
  }
}

void Run::addWindow(const Stats& stats, Outcome& outcome) const {
  const double window_s = seconds(stats.end.at_ns - stats.begin.at_ns);
  const uint64_t replies = stats.end.replies - stats.begin.replies;
  const uint64_t messages = stats.end.messages - stats.begin.messages;
  // Polls in vain were cut into by whatever the thread waited for.
  const int64_t waited_ns = stats.end.waited_ns - stats.begin.waited_ns;
  const int64_t idle_ns = std::max<int64_t>(stats.end.idle_ns - stats.begin.idle_ns - waited_ns, 0);
  outcome.replies += replies;
  outcome.messages += messages;
  outcome.bytes_in += stats.end.bytes_in - stats.begin.bytes_in;
  outcome.bytes_out += stats.end.bytes_out - stats.begin.bytes_out;
  outcome.own_cpu_s += std::max(0.0, seconds(stats.end.cpu_ns - stats.begin.cpu_ns - idle_ns));
  outcome.own_waited_s += seconds(waited_ns) / plan_.threads;
  outcome.measured_s += window_s / plan_.threads;
  if (window_s <= 0) return;
  outcome.replies_per_s += static_cast<double>(replies) / window_s;
  outcome.messages_per_s += static_cast<double>(messages) / window_s;
}

void Run::sum(Outcome& outcome) {
  Stats& total = outcome.total;
  total.last_connect_ns = begin_ns_;
  for (const auto& thread : threads_) {
    outcome.shared_table = outcome.shared_table || thread->shared_table;
    addCounts(thread->stats, total);
    if (thread->index < plan_.threads) addWindow(thread->stats, outcome);
  }
  const auto between = [](int64_t begin_ns, int64_t end_ns) { return seconds(end_ns - begin_ns); };
  outcome.begin_ns = begin_ns_;
  outcome.connect_s = between(begin_ns_, total.last_connect_ns);

  if (!outcome.server.begin.ok || !outcome.server.end.ok) return;
  outcome.server_waited_s = between(outcome.server.begin.waited_ns, outcome.server.end.waited_ns);
  outcome.server_cpu_s = between(outcome.server.begin.cpu_ns, outcome.server.end.cpu_ns);
}

}  // namespace roost::swarm
