#include "redis/client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace roost::redis {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

bool isWord(std::string_view given, std::string_view word) noexcept {
  return given.size() == word.size() &&
         std::equal(word.begin(), word.end(), given.begin(),
                    [](char w, char c) { return w == (c >= 'a' && c <= 'z' ? c - 0x20 : c); });
}

// Commands after which replies are no longer one for each command, or not for this client's to give.
bool changesConnection(const std::string_view* args, size_t count) noexcept {
  static constexpr std::array<std::string_view, 12> kWords = {
      "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE",
      "MONITOR",   "QUIT",       "SYNC",        "PSYNC",        "HELLO",      "RESET"};
  if (count > 1 && isWord(args[0], "CLIENT") && isWord(args[1], "REPLY")) return true;
  return std::any_of(kWords.begin(), kWords.end(),
                     [args](std::string_view word) { return isWord(args[0], word); });
}

}  // namespace

Client::Client(net::IoContext& io, net::Resolver& resolver, const RedisOptions& options)
    : loop_(io.loop()), options_(options), link_(io, resolver, options, *this) {
  link_.start();
}

Client::~Client() {
  loop_.cancel(*this);
  const RedisFailure stopped{RedisError::kStopped, 0, ""};
  std::deque<Waiting> in_flight = std::exchange(in_flight_, {});
  std::deque<Queued> queue = std::exchange(queue_, {});
  for (const Waiting& one : in_flight) tell(one.done, stopped);
  for (const Queued& one : queue) tell(one.waiting.done, stopped);
  for (const Failed& one : std::exchange(failed_, {})) tell(one.done, one.failure);
}

Client::Stats Client::stats() const noexcept {
  Stats stats = stats_;
  stats.attempts = link_.attempts();
  stats.in_flight = in_flight_.size();
  stats.queued = queue_.size();
  return stats;
}

void Client::command(const std::string_view* args, size_t count, Done done) {
  ++stats_.commands;
  if (count == 0 || changesConnection(args, count)) {
    return failLater(std::move(done), {RedisError::kBadCommand, 0, count == 0 ? "" : std::string(args[0])});
  }
  const RedisError error = refusal(1);
  if (error != RedisError::kNone) return failLater(std::move(done), {error, 0, ""});
  take(args, count, std::move(done));
}

void Client::commands(std::vector<Command> list) {
  stats_.commands += list.size();
  RedisFailure failure{refusal(list.size()), 0, ""};
  for (const Command& one : list) {
    const bool empty = one.args.empty();
    if (!empty && !changesConnection(one.args.data(), one.args.size())) continue;
    failure = {RedisError::kBadCommand, 0, empty ? "" : std::string(one.args[0])};
  }
  for (Command& one : list) {
    if (failure.error != RedisError::kNone) {
      failLater(std::move(one.done), failure);
    } else {
      take(one.args.data(), one.args.size(), std::move(one.done));
    }
  }
}

RedisError Client::refusal(size_t count) const noexcept {
  const size_t waiting = in_flight_.size() + queue_.size();
  const bool full = waiting + count > options_.max_commands ||
                    queue_bytes_ + link_.queuedBytes() > options_.max_queued_bytes;
  return full ? RedisError::kOverload : RedisError::kNone;
}

void Client::take(const std::string_view* args, size_t count, Done done) {
  scratch_.clear();
  appendCommand(scratch_, args, count);
  const int64_t deadline_ns = loop_.nowNs() + int64_t{options_.command_timeout_ms} * kNsPerMs;
  if (link_.up()) {
    in_flight_.push_back({std::move(done), deadline_ns});
    link_.send(scratch_);
    if (in_flight_.size() == 1) watchFirst();
    return;
  }
  queue_bytes_ += scratch_.size();
  queue_.push_back({scratch_, {std::move(done), deadline_ns}});
  armTimer();
}

void Client::failLater(Done done, RedisFailure failure) {
  failed_.push_back({std::move(done), std::move(failure)});
  loop_.armAt(*this, loop_.nowNs());
}

void Client::tell(const Done& done, RedisFailure failure) noexcept {
  ++stats_.failures;
  if (done) done({nullptr, std::move(failure)});
}

void Client::onUp() noexcept {
  was_up_ = true;
  last_failure_ = {};
  for (Queued& one : queue_) {
    link_.send(one.bytes);
    in_flight_.push_back(std::move(one.waiting));
  }
  queue_.clear();
  queue_bytes_ = 0;
  armTimer();
  if (!in_flight_.empty()) watchFirst();
}

// Commands have the same time each, so the first in flight is the first to be late.
void Client::watchFirst() noexcept {
  if (in_flight_.empty()) return link_.clearDeadline();
  const int64_t left_ms = (in_flight_.front().deadline_ns - loop_.nowNs() + kNsPerMs - 1) / kNsPerMs;
  link_.setDeadline(static_cast<uint32_t>(std::max<int64_t>(left_ms, 0)));
}

void Client::onReply(std::unique_ptr<Reply> reply) noexcept {
  if (in_flight_.empty()) return link_.drop({RedisError::kProtocol, 0, "a reply to no command"});
  const Waiting waiting = std::move(in_flight_.front());
  in_flight_.pop_front();
  watchFirst();
  if (waiting.done) waiting.done({reply.get(), {}});
}

// A reply is late. Those behind it cannot be told from it any more, and so the connection has to go.
void Client::onDeadline() noexcept {
  if (in_flight_.empty()) return;
  if (in_flight_.front().deadline_ns > loop_.nowNs()) return watchFirst();
  link_.drop({RedisError::kTimeout, 0, "no reply in time"});
}

void Client::onDown(const RedisFailure& failure) noexcept {
  if (std::exchange(was_up_, false)) ++stats_.losses;
  last_failure_ = failure;
  const int64_t now_ns = loop_.nowNs();
  const std::deque<Waiting> lost = std::exchange(in_flight_, {});
  for (const Waiting& one : lost) {
    const bool behind = failure.error == RedisError::kTimeout && one.deadline_ns > now_ns;
    tell(one.done,
         behind ? RedisFailure{RedisError::kConnectionLost, 0, "behind a command without a reply"} : failure);
  }
}

void Client::armTimer() noexcept {
  if (!failed_.empty()) {
    loop_.armAt(*this, loop_.nowNs());
  } else if (!queue_.empty()) {
    loop_.armAt(*this, queue_.front().waiting.deadline_ns);
  } else {
    loop_.cancel(*this);
  }
}

void Client::onTimer() noexcept {
  for (const Failed& one : std::exchange(failed_, {})) tell(one.done, one.failure);
  while (!queue_.empty() && queue_.front().waiting.deadline_ns <= loop_.nowNs()) {
    const Queued late = std::move(queue_.front());
    queue_.pop_front();
    queue_bytes_ -= late.bytes.size();
    tell(late.waiting.done, {RedisError::kTimeout, last_failure_.sys_errno, last_failure_.toString()});
  }
  armTimer();
}

}  // namespace roost::redis
