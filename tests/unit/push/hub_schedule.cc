#include "unit/push/hub_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "push/hub.h"
#include "unit/push/sim_hub.h"

namespace roost::push::test {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// One message as the model knows it. Times are the simulation's, which go on by 1 ns at least with each
// event.
struct Known {
  bool known = false;
  uint64_t number = 0;  // its payload
  int64_t at_ns = 0;
  int64_t time_s = 0;
  uint32_t history_messages = 0;
  uint32_t history_s = 0;
  uint32_t publisher = 0;  // the shard
  uint64_t asked = 0;      // the how manieth publication that was asked for
  struct Receipt {
    int64_t begun_ns;  // when who got it had subscribed
    int64_t at_ns;
  };
  std::vector<Receipt> receipts;
};

// One making of a channel.
struct Making {
  uint32_t name;
  uint32_t epoch;
  std::vector<Known> log;  // by seq - 1
  struct Change {
    int64_t at_ns;
    int32_t by;
  };
  std::vector<Change> changes;  // of the number of subscribers

  Known& at(uint64_t seq) {
    if (log.size() < seq) log.resize(seq);
    return log[seq - 1];
  }
  // How many had been published then. To be asked when all is known.
  uint64_t lastAt(int64_t ns) const {
    uint64_t seq = 0;
    while (seq < log.size() && log[seq].at_ns <= ns) ++seq;
    return seq;
  }
  int64_t subscribersAt(int64_t ns) const {
    int64_t count = 0;
    for (const Change& change : changes) {
      if (change.at_ns <= ns) count += change.by;
    }
    return count;
  }
  // Whether history may have let go of it by then.
  bool mayBeGone(uint64_t seq, int64_t ns) const {
    for (uint64_t later = 1; later <= log.size() && log[later - 1].at_ns <= ns; ++later) {
      const Known& policy = log[later - 1];
      if (later >= seq && seq + policy.history_messages <= later) return true;
      if (policy.history_s != 0 && log[seq - 1].at_ns + policy.history_s * kSecondNs <= ns) return true;
    }
    return false;
  }
  // The number of messages that the counts of the policies have let go of.
  uint64_t trimmed() const {
    uint64_t gone = 0;
    for (uint64_t seq = 1; seq <= log.size(); ++seq) {
      if (seq > log[seq - 1].history_messages) gone = std::max(gone, seq - log[seq - 1].history_messages);
    }
    return gone;
  }
};

// Things that were seen and can be judged only when everything is known.
struct Claim {
  enum class Kind { kGone, kGoneAfterTime, kLagged, kKnown, kUnknown, kSubscribers, kAllDelivered, kFinal };
  Kind kind;
  Making* making;
  uint64_t from = 0;  // kGone: messages in (from, to] were not given any more
  uint64_t to = 0;
  int64_t at_ns = 0;
  int64_t value = 0;
  int64_t answered_ns = 0;
};

class Schedule;

class Client final : public Subscriber {
 public:
  Client(Schedule& world, uint64_t number, uint32_t of_shard) : world_(world), id(number), shard(of_shard) {}
  ~Client() = default;
  void onSubscribed(const MessageId& position) noexcept override;
  Delivery onMessage(const Message::Ref& message) noexcept override;
  Delivery onGap(const Gap& gap) noexcept override;
  void onEnd(EndReason reason) noexcept override;

 private:
  Schedule& world_;

 public:
  enum class Stage { kOut, kAsked, kIn };
  const uint64_t id;
  const uint32_t shard;
  uint32_t name = 0;
  Start start;
  SlowPolicy slow = SlowPolicy::kDropOldest;
  bool one_message = false;  // as a long-poll
  Stage stage = Stage::kOut;
  bool blocked = false;
  bool blocked_by_message = false;
  bool gap_may_come = false;  // the one of its beginning
  bool gap_must_come = false;
  bool quiet = false;  // nothing was under way when it asked
  int64_t asked_ns = 0;
  int64_t begun_ns = 0;
  uint64_t quiet_last = 0;
  Making* making = nullptr;
  uint64_t seq = 0;
  MessageId last;
  uint64_t subscription = 0;  // the how manieth
  int on_stack = 0;
  bool doomed = false;
};

class Schedule {
 public:
  Schedule(uint64_t seed, ScheduleTally& tally) : tally_(tally), state_(seed), host_(shardsOf(seed)) {
    shards_ = shardsOf(seed);
    host_.counts = true;
    host_.word = seed;
    choose();
    hub_ = std::make_unique<Hub>(options_, shards_, host_);
  }
  std::string run();

 private:
  friend class Client;
  static uint32_t shardsOf(uint64_t seed) { return 1 + static_cast<uint32_t>(scrambled(seed) % 3); }
  uint64_t random(uint64_t below) { return scrambled(state_ += 0x9e3779b97f4a7c15) % below; }
  bool chance(uint64_t percent) { return random(100) < percent; }
  static std::string nameOf(uint32_t name) { return std::string(1, static_cast<char>('a' + name)); }
  void choose();

  template <class... Arguments>
  void fail(const char* format, const Arguments&... arguments) {
    if (wrong_.empty()) wrong_ = fmt::format(fmt::runtime(format), arguments...);
  }

  void act(uint32_t shard);
  void step();
  void publish(uint32_t shard, uint32_t name, bool probe = false);
  void published(uint32_t name, uint64_t number, const Known& policy, bool waits, bool probe,
                 const std::string& key, const PublishResult& result);
  uint64_t numberFor(const std::string& key);
  void refused(const Known& policy, bool probe, PublishStatus status);
  void subscribe(uint32_t shard);
  void begin(Client& client);
  Start anyStart();
  void unsubscribe(Client& client);
  void destroy(Client& client);
  void erase(Client& client);
  void resume(Client& client);
  void remove(uint32_t shard, uint32_t name);
  Client* any(uint32_t shard);
  Client* anyOf(bool (*fits)(const Client&), uint32_t shard);

  Making& makingOf(uint32_t name, uint32_t epoch);
  void left(Client& client);
  void seen(const MessageId& id) {
    if (ids_.size() < 64)
      ids_.push_back(id);
    else
      ids_[random(64)] = id;
  }
  void checkBeginning(Client& client, const MessageId& position);
  void settle();
  void checkQuiet();
  void finish();
  void stopAll();
  void judge();
  void judge(const Claim& claim);

  ScheduleTally& tally_;
  uint64_t state_;
  uint32_t shards_ = 1;
  SimHost host_;
  HubOptions options_;
  uint32_t names_ = 1;
  uint32_t block_percent_ = 0, gap_block_percent_ = 0, nested_percent_ = 0, steps_ = 0;
  bool evicts_ = false, ages_ = false, calm_ = false, bytes_window_ = false;
  std::unique_ptr<Hub> hub_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Making>> makings_;
  std::vector<MessageId> ids_;
  std::vector<Claim> claims_;
  std::vector<std::pair<std::string, MessageId>> keys_, repeats_;  // idempotency keys with the ids they gave
  std::map<std::string, std::vector<uint64_t>> keyed_;  // what was asked to be published with a key
  uint64_t last_client_ = 0, last_number_ = 0, last_asked_ = 0, answers_due_ = 0;
  int depth_ = 0;
  bool shut_ = false;
  std::string wrong_;
};

void Schedule::choose() {
  names_ = 1 + static_cast<uint32_t>(random(3));
  steps_ = 20 + static_cast<uint32_t>(random(100));
  block_percent_ = chance(50) ? 0 : static_cast<uint32_t>(random(60));
  gap_block_percent_ = chance(50) ? 0 : static_cast<uint32_t>(random(60));
  nested_percent_ = chance(50) ? 0 : static_cast<uint32_t>(random(30));
  options_.slow_window_messages = static_cast<uint32_t>(random(4));
  options_.at_once_messages = static_cast<uint32_t>(1 + random(6));
  bytes_window_ = chance(20);
  if (bytes_window_) options_.slow_window_bytes = random(600);
  if (chance(20)) options_.max_backlog_messages = 1 + static_cast<uint32_t>(random(6));
  if (chance(5)) options_.max_backlog_bytes = random(2000);
  options_.queue_ms = chance(20) ? 0 : static_cast<uint32_t>(1 + random(4000));
  options_.max_queued_bytes = chance(10) ? 1 + random(2000) : 0;
  evicts_ = chance(20);
  if (evicts_) options_.max_history_bytes = 1 + random(3000);
  if (chance(10)) options_.max_channels = 1 + static_cast<uint32_t>(random(2));
  if (chance(10)) options_.max_subscribers = 1 + static_cast<uint32_t>(random(5));
  if (chance(10)) options_.max_subscribers_per_channel = 1 + static_cast<uint32_t>(random(3));
  options_.max_idempotency_keys = static_cast<uint32_t>(random(3));
  ages_ = chance(30);
}

// --- what happens ---------------------------------------------------------------------------------------

void Schedule::step() {
  const uint64_t kind = random(100);
  const auto shard = static_cast<uint32_t>(random(shards_));
  if (kind < 50) {
    host_.runOne(random(1u << 20));
  } else if (kind < 92) {
    host_.as(shard, [&] { act(shard); });
  } else if (kind < 95) {
    host_.as(shard, [&] { hub_->shard(shard).tick(); });
  } else if (kind < 98) {
    host_.now_ns += static_cast<int64_t>(random(4) * random(3) * kSecondNs);
    host_.unix_s += static_cast<int64_t>(random(4)) - (chance(30) ? 3 : 0);
  } else {
    const auto name = static_cast<uint32_t>(random(names_));
    host_.as(shard, [&] {
      ++answers_due_;
      hub_->shard(shard).info(nameOf(name),
                              std::make_unique<Informed>([this](const ChannelInfo&) { --answers_due_; }));
    });
  }
}

void Schedule::act(uint32_t shard) {
  const uint64_t kind = random(84);
  const auto name = static_cast<uint32_t>(random(names_));
  if (kind < 30) {
    for (uint64_t count = chance(10) ? random(12) : 1; count > 0; --count) publish(shard, name);
  } else if (kind < 54) {
    subscribe(shard);
  } else if (kind < 60) {
    if (Client* client = any(shard)) unsubscribe(*client);
  } else if (kind < 64) {
    if (Client* client = any(shard)) destroy(*client);
  } else if (kind < 80) {
    if (Client* client = anyOf([](const Client& one) { return one.blocked || one.id % 4 == 0; }, shard))
      resume(*client);
  } else {
    remove(shard, name);
  }
}

void Schedule::publish(uint32_t shard, uint32_t name, bool probe) {
  Publication publication;
  Known policy;
  policy.asked = ++last_asked_;
  if (chance(5) && !probe) publication.idempotency_key = nameOf(name) + std::to_string(random(3));
  const std::string key = publication.idempotency_key;
  const uint64_t number = numberFor(key);
  publication.payload = BufferRef::copyOf(std::to_string(number));
  policy.publisher = shard;
  policy.at_ns = host_.nowNs();  // asked; published, once that is known
  policy.history_messages = static_cast<uint32_t>(random(6));
  policy.history_s = ages_ && chance(50) ? 1 + static_cast<uint32_t>(random(5)) : 0;
  publication.history_messages = policy.history_messages;
  publication.history_s = policy.history_s;
  if (chance(10)) publication.wait_ms = 1 + static_cast<uint32_t>(random(3000));
  const bool waits = publication.wait_ms > 0;
  ++answers_due_;
  hub_->shard(shard).publish(nameOf(name), std::move(publication),
                             std::make_unique<Published>([this, name, number, policy, waits, probe,
                                                          key](const PublishResult& result) {
                               --answers_due_;
                               published(name, number, policy, waits, probe, key, result);
                             }));
}

void Schedule::published(uint32_t name, uint64_t number, const Known& policy, bool waits, bool probe,
                         const std::string& key, const PublishResult& result) {
  if (result.status == PublishStatus::kKeyReused && keyed_[key].size() < 2)
    fail("{} came with one message only", key);
  if (result.status != PublishStatus::kPublished) return refused(policy, probe, result.status);
  if (result.repeated) {
    repeats_.emplace_back(key, result.id);
    return;
  }
  if (!key.empty()) keys_.emplace_back(key, result.id);
  ++tally_.messages;
  Making& making = makingOf(name, result.id.epoch);
  Known& known = making.at(result.id.seq);
  if (known.at_ns != 0 && known.number != number)
    fail("{} was given to {} and to {}", result.id.text(), known.number, number);
  if (known.known) fail("{} was given twice", result.id.text());
  known.known = true;
  known.number = number;
  known.at_ns = result.published_ns;
  known.time_s = result.id.time_s;
  known.history_messages = policy.history_messages;
  known.history_s = policy.history_s;
  known.publisher = policy.publisher;
  known.asked = policy.asked;
  if (result.queued) ++tally_.queued;
  seen(result.id);
  claims_.push_back({Claim::Kind::kSubscribers, &making, 0, result.id.seq, result.published_ns,
                     result.channel.subscribers, 0});
  if (waits && result.all_delivered)
    claims_.push_back({Claim::Kind::kAllDelivered, &making, 0, result.id.seq, result.published_ns,
                       result.delivered, host_.nowNs()});
  if (waits && !result.all_delivered && result.delivered > known.receipts.size())
    fail("{} was delivered to {} of {}", result.id.text(), known.receipts.size(), result.delivered);
}

// What to publish with a key: as often as not what came with it before.
uint64_t Schedule::numberFor(const std::string& key) {
  if (key.empty()) return ++last_number_;
  std::vector<uint64_t>& before = keyed_[key];
  if (before.empty() || chance(30)) before.push_back(++last_number_);
  return before[random(before.size())];
}

void Schedule::refused(const Known& policy, bool probe, PublishStatus status) {
  ++tally_.refused;
  if (probe && !(status == PublishStatus::kTooManyChannels && options_.max_channels < names_) &&
      status != PublishStatus::kNoMemory)
    fail("refused with {} when nothing was under way", static_cast<int>(status));
  const int64_t waited_ns = host_.nowNs() - policy.at_ns;
  if (status == PublishStatus::kOverloaded && options_.max_queued_bytes == 0 &&
      waited_ns < options_.queue_ms * (kSecondNs / 1000))
    fail("refused after {} ns", waited_ns);
}

Start Schedule::anyStart() {
  Start start;
  start.kind = static_cast<Start::Kind>(random(4));
  start.back = static_cast<uint32_t>(random(5));
  if (start.kind != Start::Kind::kAfter) return start;
  if (!ids_.empty()) start.after = ids_[random(ids_.size())];
  switch (random(12)) {
    case 0:
      start.after.seq += random(5);
      break;
    case 1:
      start.after.epoch ^= 1u << random(32);
      if (start.after.epoch == 0) start.after.epoch = 1;
      break;
    case 2:
      start.after = {host_.unix_s - static_cast<int64_t>(random(8)), 0, 0};
      break;
    case 3:
      start.after.seq = UINT64_MAX - random(2);
      break;
    default:
      break;
  }
  if (start.after.epoch == 0) start.after.seq = 0;
  return start;
}

void Schedule::subscribe(uint32_t shard) {
  Client* client = anyOf([](const Client& one) { return one.stage == Client::Stage::kOut; }, shard);
  if (client == nullptr || (clients_.size() < 8 && chance(50))) {
    clients_.push_back(std::make_unique<Client>(*this, ++last_client_, shard));
    client = clients_.back().get();
  }
  if (client->on_stack > 0 && chance(50)) return;
  const bool goes_on = client->making != nullptr && chance(70);
  client->start = anyStart();
  if (goes_on) client->start = {Start::Kind::kAfter, 0, client->last};
  if (!goes_on) client->name = static_cast<uint32_t>(random(names_));
  client->slow = static_cast<SlowPolicy>(random(3));
  client->one_message = chance(40);
  begin(*client);
}

void Schedule::begin(Client& client) {
  client.stage = Client::Stage::kAsked;
  ++client.subscription;
  client.blocked = false;
  client.gap_may_come = client.gap_must_come = false;
  client.quiet = host_.waiting() == 0 && depth_ == 0;
  client.asked_ns = host_.nowNs();
  hub_->shard(client.shard).subscribe(nameOf(client.name), {client.start, client.slow}, client);
}

void Schedule::unsubscribe(Client& client) {
  left(client);
  hub_->shard(client.shard).unsubscribe(client);
  if (client.subscribed()) fail("client {} is still subscribed", client.id);
}

void Schedule::destroy(Client& client) {
  client.doomed = true;  // nobody may subscribe it again meanwhile
  unsubscribe(client);
  if (client.on_stack == 0) erase(client);
}

void Schedule::erase(Client& client) {
  const auto at = std::find_if(clients_.begin(), clients_.end(),
                               [&](const std::unique_ptr<Client>& one) { return one.get() == &client; });
  const std::unique_ptr<Client> gone = std::move(*at);
  clients_.erase(at);
}

void Schedule::resume(Client& client) {
  if (client.on_stack > 0) return;
  if (client.blocked && client.blocked_by_message)
    client.making->at(client.seq).receipts.push_back({client.begun_ns, host_.nowNs()});
  client.blocked = false;
  hub_->shard(client.shard).resume(client);
}

void Schedule::remove(uint32_t shard, uint32_t name) {
  ++answers_due_;
  hub_->shard(shard).remove(nameOf(name),
                            std::make_unique<Informed>([this](const ChannelInfo&) { --answers_due_; }));
}

Client* Schedule::anyOf(bool (*fits)(const Client&), uint32_t shard) {
  if (clients_.empty()) return nullptr;
  const size_t from = random(clients_.size());
  for (size_t i = 0; i < clients_.size(); ++i) {
    Client& client = *clients_[(from + i) % clients_.size()];
    if (client.shard == shard && !client.doomed && fits(client)) return &client;
  }
  return nullptr;
}

Client* Schedule::any(uint32_t shard) {
  return anyOf([](const Client&) { return true; }, shard);
}

Making& Schedule::makingOf(uint32_t name, uint32_t epoch) {
  for (const std::unique_ptr<Making>& making : makings_) {
    if (making->name == name && making->epoch == epoch) return *making;
  }
  makings_.push_back(std::make_unique<Making>(Making{name, epoch, {}, {}}));
  return *makings_.back();
}

// No longer subscribed, from now on.
void Schedule::left(Client& client) {
  if (client.stage == Client::Stage::kIn) client.making->changes.push_back({host_.nowNs(), -1});
  client.stage = Client::Stage::kOut;
  client.blocked = false;
}

// --- what subscribers are told --------------------------------------------------------------------------

void Client::onSubscribed(const MessageId& position) noexcept {
  ++on_stack;
  if (stage != Stage::kAsked) world_.fail("client {} was subscribed twice", id);
  stage = Stage::kIn;
  making = &world_.makingOf(name, position.epoch);
  begun_ns = world_.host_.nowNs();
  making->changes.push_back({begun_ns, 1});
  seq = position.seq;
  last = position;
  world_.seen(position);
  world_.checkBeginning(*this, position);
  if (world_.chance(world_.nested_percent_) && world_.depth_ < 3) {
    ++world_.depth_;
    world_.act(shard);
    --world_.depth_;
  }
  if (--on_stack == 0 && doomed) world_.erase(*this);
}

void Schedule::checkBeginning(Client& client, const MessageId& position) {
  const Start& start = client.start;
  const int64_t now_ns = client.begun_ns;
  Making* const making = client.making;
  const bool exact = client.quiet && !evicts_ && !ages_ && host_.waiting() == 0 && answers_due_ == 0;
  const uint64_t last = making->log.size();
  const auto gone = [&](uint64_t from, uint64_t to) {
    if (to > from) claims_.push_back({Claim::Kind::kGone, making, from, to, now_ns, 0, 0});
  };
  switch (start.kind) {
    case Start::Kind::kNewest:
      if (exact && position.seq != last) fail("newest began at {} of {}", position.seq, last);
      break;
    case Start::Kind::kOldest:
      if (exact && position.seq != making->trimmed())
        fail("oldest began behind {}, not {}", position.seq, making->trimmed());
      gone(0, position.seq);
      break;
    case Start::Kind::kBack: {
      const uint64_t behind = std::max(making->trimmed(), last - std::min<uint64_t>(last, start.back));
      if (exact && position.seq != behind) fail("back began behind {}, not {}", position.seq, behind);
      break;
    }
    case Start::Kind::kAfter:
      if (start.after.epoch == 0) {
        client.gap_may_come = true;
      } else if (start.after.epoch == position.epoch && start.after.seq == position.seq) {
        ++tally_.resumed;
        client.gap_may_come = true;  // an id of the future, and nothing in history
      } else if (start.after.seq == 0 && position.seq == 0) {
        client.gap_may_come = true;  // there was no message yet, and perhaps there is none
        for (const std::unique_ptr<Making>& other : makings_) {
          if (other->epoch == start.after.epoch && other->name == making->name && other->lastAt(now_ns) > 0)
            client.gap_must_come = true;
        }
      } else {
        client.gap_may_come = client.gap_must_come = true;
        gone(0, position.seq);
      }
      break;
  }
}

Delivery Client::onGap(const Gap& gap) noexcept {
  ++on_stack;
  ++world_.tally_.gaps;
  const int64_t now_ns = world_.host_.nowNs();
  if (stage != Stage::kIn) world_.fail("client {} was told of a gap, but is not subscribed", id);
  if (gap_may_come) {
    if (gap.after != start.after)
      world_.fail("a gap behind {}, not {}", gap.after.text(), start.after.text());
    if (start.after.epoch == making->epoch && start.after.seq <= seq) {
      if (gap.missed != seq - start.after.seq)
        world_.fail("a gap of {} from {} to {}", gap.missed, start.after.seq, seq);
    } else if (gap.missed != 0) {
      world_.fail("a gap of {} behind an unknown id", gap.missed);
    }
    if (start.after.epoch == making->epoch && start.after.seq > seq)
      world_.claims_.push_back({Claim::Kind::kUnknown, making, start.after.seq, 0, asked_ns, 0, 0});
    if (start.after.epoch == 0 && start.after.time_s <= world_.host_.unixSeconds())
      world_.claims_.push_back({Claim::Kind::kGoneAfterTime, making, 0, seq, now_ns, start.after.time_s, 1});
  } else {
    ++world_.tally_.lagged;
    if (gap.after.seq != seq || gap.after.epoch != making->epoch || gap.missed == 0)
      world_.fail("a gap of {} behind {}, at {}", gap.missed, gap.after.text(), seq);
    if (slow == SlowPolicy::kDisconnect) world_.fail("a gap for one who was to be disconnected");
    world_.claims_.push_back({Claim::Kind::kLagged, making, seq, seq + gap.missed, now_ns, 0, 0});
    if (slow == SlowPolicy::kDropOldest)
      world_.claims_.push_back({Claim::Kind::kGone, making, seq, seq + gap.missed, now_ns, 0, 0});
    seq += gap.missed;
  }
  gap_may_come = gap_must_come = false;
  const bool blocks = !world_.calm_ && world_.chance(world_.gap_block_percent_);
  --on_stack;
  if (blocks) {
    blocked = true;
    blocked_by_message = false;
    return Delivery::kBlocked;
  }
  return Delivery::kAccepted;
}

Delivery Client::onMessage(const Message::Ref& message) noexcept {
  ++on_stack;
  ++world_.tally_.delivered;
  const MessageId message_id = message->id();
  const uint64_t this_one = subscription;
  if (stage != Stage::kIn || blocked) world_.fail("client {} got a message it was not to get", id);
  if (gap_must_come) world_.fail("client {} was not told of a gap at {}", id, seq);
  if (gap_may_come && start.after.epoch == 0)
    world_.claims_.push_back({Claim::Kind::kGoneAfterTime, making, 0, seq, begun_ns, start.after.time_s, 0});
  gap_may_come = false;
  if (message_id.epoch != making->epoch || message_id.seq != seq + 1)
    world_.fail("client {} got {} behind {} of {:08x}", id, message_id.text(), seq, making->epoch);
  Making& its_making = *making;
  const int64_t its_begin_ns = begun_ns;
  Known& known = its_making.at(message_id.seq);
  const uint64_t number = std::strtoull(std::string(message->payload().view()).c_str(), nullptr, 10);
  if (known.at_ns != 0 && (known.number != number || known.at_ns != message->publishedNs()))
    world_.fail("{} is {} and {}", message_id.text(), known.number, number);
  known.number = number;
  known.at_ns = message->publishedNs();
  seq = message_id.seq;
  last = message_id;
  Delivery answer = Delivery::kAccepted;
  if (one_message)
    answer = world_.chance(3) ? Delivery::kClosed : Delivery::kDone;
  else if (!world_.calm_ && world_.chance(world_.block_percent_))
    answer = Delivery::kBlocked;
  else if (world_.chance(1))
    answer = Delivery::kClosed;
  if (world_.chance(world_.nested_percent_) && world_.depth_ < 3) {
    ++world_.depth_;
    world_.act(shard);
    --world_.depth_;
  }
  // Whatever was done to it meanwhile, this was its answer to that message.
  if (answer == Delivery::kAccepted || answer == Delivery::kDone)
    its_making.at(message_id.seq).receipts.push_back({its_begin_ns, world_.host_.nowNs()});
  --on_stack;
  if (stage == Stage::kIn && subscription == this_one) {
    if (answer == Delivery::kDone || answer == Delivery::kClosed) world_.left(*this);
    blocked = answer == Delivery::kBlocked;
    blocked_by_message = blocked;
  }
  if (on_stack == 0 && doomed) world_.erase(*this);
  return answer;
}

void Client::onEnd(EndReason reason) noexcept {
  ++world_.tally_.ended;
  const bool was_in = stage == Stage::kIn;
  if (stage == Stage::kOut) world_.fail("client {} was ended, but is not subscribed", id);
  if (subscribed()) world_.fail("client {} was ended, but is subscribed", id);
  const bool was_blocked = blocked;
  world_.left(*this);
  switch (reason) {
    case EndReason::kDeleted:
      if (!was_in) world_.fail("client {} was told of an end before it began", id);
      if (!was_blocked) world_.claims_.push_back({Claim::Kind::kFinal, making, 0, seq, 0, 0, 0});
      break;
    case EndReason::kTooSlow:
      if (slow != SlowPolicy::kDisconnect || !was_in) world_.fail("client {} was too slow", id);
      world_.claims_.push_back({Claim::Kind::kLagged, making, seq, seq + 1, world_.host_.nowNs(), 0, 0});
      break;
    case EndReason::kTooManyChannels:
      ++world_.tally_.refused;
      if (was_in || world_.options_.max_channels >= world_.names_) world_.fail("too many channels");
      break;
    case EndReason::kTooManySubscribers:
      ++world_.tally_.refused;
      if (was_in || world_.options_.max_subscribers + world_.options_.max_subscribers_per_channel == 0)
        world_.fail("too many subscribers");
      break;
    case EndReason::kShutdown:
      if (!world_.shut_) world_.fail("client {} was told of a shutdown", id);
      break;
  }
  ++on_stack;
  if (world_.chance(world_.nested_percent_) && world_.depth_ < 3) {
    ++world_.depth_;
    world_.act(shard);
    --world_.depth_;
  }
  if (--on_stack == 0 && doomed) world_.erase(*this);
}

// --- the end --------------------------------------------------------------------------------------------

// Runs until nothing is under way and nobody is blocked.
void Schedule::settle() {
  calm_ = true;
  nested_percent_ = 0;
  for (bool again = true; again;) {
    while (host_.runOne(random(1u << 20))) {
    }
    again = false;
    for (size_t i = 0; i < clients_.size(); ++i) {
      Client& client = *clients_[i];
      if (!client.blocked) continue;
      host_.as(client.shard, [&] { resume(client); });
      again = true;
    }
  }
}

void Schedule::checkQuiet() {
  for (int again = 0; again < 2; ++again) {
    host_.now_ns += kSecondNs;
    for (uint32_t shard = 0; shard < shards_; ++shard) host_.as(shard, [&] { hub_->shard(shard).tick(); });
    settle();
  }
  if (evicts_ && hub_->numbers().history_bytes > static_cast<int64_t>(options_.max_history_bytes))
    fail("{} bytes of {}", hub_->numbers().history_bytes, options_.max_history_bytes);
  uint64_t in = 0;
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client->stage == Client::Stage::kAsked) fail("client {} was never answered", client->id);
    if (client->stage != Client::Stage::kIn) continue;
    ++in;
    if (!client->subscribed()) fail("client {} is not subscribed", client->id);
    if (client->gap_must_come) fail("client {} was not told of a gap at {}", client->id, client->seq);
    claims_.push_back({Claim::Kind::kFinal, client->making, 0, client->seq, 0, 0, 0});
  }
  if (hub_->numbers().subscribers != in) fail("{} subscribers, not {}", hub_->numbers().subscribers, in);
  for (uint32_t name = 0; name < names_; ++name) {
    const auto shard = static_cast<uint32_t>(random(shards_));
    host_.as(shard, [&] {
      hub_->shard(shard).info(
          nameOf(name), std::make_unique<Informed>([&, name](const ChannelInfo& info) {
            uint32_t there = 0;
            for (const std::unique_ptr<Client>& client : clients_) {
              if (client->name == name && client->stage == Client::Stage::kIn) ++there;
            }
            if (info.subscribers != there)
              fail("{} subscribers of a channel, not {}", info.subscribers, there);
            if (info.exists && makingOf(name, info.last_id.epoch).log.size() != info.last_id.seq)
              fail("the last is {}", info.last_id.text());
          }));
    });
    settle();
  }
}

void Schedule::finish() {
  for (const std::unique_ptr<Client>& client : clients_)
    host_.as(client->shard, [&] { unsubscribe(*client); });
  settle();
  if (hub_->numbers().subscribers != 0) fail("{} subscribers are left", hub_->numbers().subscribers);
  for (const int64_t seconds : {6, 4000, 4000}) {  // mirrors are let go of; keys and histories are too old
    host_.now_ns += seconds * kSecondNs;
    for (uint32_t shard = 0; shard < shards_; ++shard) host_.as(shard, [&] { hub_->shard(shard).tick(); });
    settle();
  }
  for (uint32_t name = 0; name < names_; ++name) host_.as(0, [&] { remove(0, name); });
  settle();
  if (answers_due_ != 0) fail("{} answers never came", answers_due_);
  const HubNumbers numbers = hub_->numbers();
  if (numbers.channels != 0 || numbers.history_bytes != 0)
    fail("{} channels and {} bytes are left", numbers.channels, numbers.history_bytes);
}

void Schedule::stopAll() {
  shut_ = true;
  calm_ = true;
  nested_percent_ = 0;
  for (uint32_t shard = 0; shard < shards_; ++shard) {
    host_.as(shard, [&] { hub_->shard(shard).stop(); });
    for (uint64_t tasks = random(20); tasks > 0; --tasks) host_.runOne(random(1u << 20));
  }
  while (host_.runOne(random(1u << 20))) {
  }
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client->stage != Client::Stage::kOut || client->subscribed())
      fail("client {} outlives the hub", client->id);
  }
  if (hub_->numbers().history_bytes != 0) fail("{} bytes are left", hub_->numbers().history_bytes);
}

// Of what was seen, what could not be judged when it was.
void Schedule::judge(const Claim& claim) {
  Making& making = *claim.making;
  switch (claim.kind) {
    case Claim::Kind::kGone:
      for (uint64_t seq = claim.from + 1; seq <= claim.to && !evicts_; ++seq) {
        if (!making.mayBeGone(seq, claim.at_ns)) fail("{} of {:08x} was lost", seq, making.epoch);
      }
      break;
    case Claim::Kind::kGoneAfterTime: {
      bool later = false;
      for (uint64_t seq = 1; seq <= claim.to; ++seq)
        later = later || making.log[seq - 1].time_s > claim.value;
      if (later != (claim.answered_ns == 1)) fail("a gap behind a time: told {}", claim.answered_ns);
      break;
    }
    case Claim::Kind::kLagged:
      if (!bytes_window_ && making.lastAt(claim.at_ns) - claim.from <= options_.slow_window_messages)
        fail("lagged at {} of {}", claim.from, making.lastAt(claim.at_ns));
      break;
    case Claim::Kind::kKnown:
      break;
    case Claim::Kind::kUnknown:
      if (claim.from <= making.lastAt(claim.at_ns)) fail("{} was not known", claim.from);
      break;
    case Claim::Kind::kSubscribers:
      if (making.subscribersAt(claim.at_ns) != claim.value)
        fail("{} subscribers at publication, not {}", claim.value, making.subscribersAt(claim.at_ns));
      break;
    case Claim::Kind::kAllDelivered: {
      const Known& known = making.at(claim.to);
      const auto until = [&](const Known::Receipt& one) { return one.at_ns <= claim.answered_ns; };
      const auto early = [&](const Known::Receipt& one) { return until(one) && one.begun_ns <= claim.at_ns; };
      const auto least = std::count_if(known.receipts.begin(), known.receipts.end(), early);
      const auto most = std::count_if(known.receipts.begin(), known.receipts.end(), until);
      if (claim.value < least || claim.value > most)
        fail("delivered to {}, not {} to {}", claim.value, least, most);
      break;
    }
    case Claim::Kind::kFinal:
      if (claim.to != making.log.size()) fail("ended at {} of {}", claim.to, making.log.size());
      break;
  }
}

void Schedule::judge() {
  for (const std::unique_ptr<Making>& making : makings_) {
    for (size_t i = 0; i < making->log.size(); ++i) {
      if (!making->log[i].known) fail("{} of {:08x} is nobody's", i + 1, making->epoch);
      if (i > 0 && making->log[i].time_s < making->log[i - 1].time_s) fail("time went backwards");
      if (i > 0 && making->log[i].at_ns <= making->log[i - 1].at_ns) fail("out of order");
    }
    std::vector<uint64_t> before(shards_);  // by publisher
    for (const Known& known : making->log) {
      uint64_t& last = before[known.publisher];
      if (known.asked <= last) fail("{} of one publisher behind {}", known.asked, last);
      last = known.asked;
    }
  }
  for (const Claim& claim : claims_) judge(claim);
  for (const auto& repeat : repeats_) {
    if (std::find(keys_.begin(), keys_.end(), repeat) == keys_.end())
      fail("the key {} was answered as repeated with {}", repeat.first, repeat.second.text());
  }
}

std::string Schedule::run() {
  for (uint32_t i = 0; i < steps_ && wrong_.empty(); ++i) step();
  if (chance(15)) {
    stopAll();
    return wrong_;
  }
  settle();
  if (answers_due_ != 0) fail("{} answers wait when nothing is under way", answers_due_);
  for (uint32_t name = 0; name < names_; ++name) {
    host_.as(0, [&] { publish(0, name, true); });
    settle();
  }
  checkQuiet();
  if (wrong_.empty()) judge();
  finish();
  stopAll();
  return wrong_;
}

}  // namespace

std::string runSchedule(uint64_t seed, ScheduleTally& tally) {
  return Schedule(scrambled(seed), tally).run();
}

}  // namespace roost::push::test
