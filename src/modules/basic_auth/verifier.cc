#include "modules/basic_auth/verifier.h"

#include <cstring>
#include <utility>

namespace roost::modules::basic_auth {

// One verification on a task thread; one that succeeded with generation `fitted` of the file only has to look
// whether that is still what is in it (0: there is none). Destroyed without having run, when the pool ends,
// it says kBusy.
class Verifier::Job final : public event::Task {
 public:
  Job(Verifier& owner, const OutcomeKey& key, std::shared_ptr<UsersFile> file, const Credentials& credentials,
      uint64_t fitted)
      : owner_(owner),
        loop_(owner.context_.loop()),
        key_(key),
        file_(std::move(file)),
        fitted_(fitted),
        user_(credentials.user),
        password_(credentials.password) {}
  ~Job() override {
    if (!armed_) return;
    loop_.post(event::makeTask([owner = &owner_, key = key_, answer = answer_, generation = generation_] {
      owner->finish(key, answer, generation);
    }));
  }
  void run() noexcept override {
    const int64_t now_ns = loop_.sys().monotonicNs();
    if (file_->checkIsDue(now_ns) || !file_->isKnown(now_ns)) file_->check(now_ns);
    if (fitted_ != 0 && fitted_ == file_->generation()) {
      answer_ = Answer::kFits;
      return;
    }
    const UsersFile::Judgement judgement = file_->judge(user_, password_.text());
    answer_ = judgement.fits ? Answer::kFits : Answer::kFails;
    generation_ = judgement.generation;
  }
  void disarm() noexcept { armed_ = false; }

 private:
  Verifier& owner_;
  event::Loop& loop_;
  const OutcomeKey key_;
  const std::shared_ptr<UsersFile> file_;
  const uint64_t fitted_;
  const std::string user_;
  const Secret password_;
  Answer answer_ = Answer::kBusy;
  uint64_t generation_ = 0;
  bool armed_ = true;
};

// 128 bits under two secret keys: nobody outside can find a pair that collides with another.
OutcomeKey Verifier::keyOf(const UsersFile& file, const Credentials& credentials) const {
  const uint64_t numbers[] = {file.id(), credentials.user.size()};
  char text[sizeof numbers + SecretRoom::kSize];
  std::memcpy(text, numbers, sizeof numbers);
  size_t size = sizeof numbers;
  size += credentials.user.copy(text + size, credentials.user.size());
  size += credentials.password.copy(text + size, credentials.password.size());
  const OutcomeKey key{sipHash<2, 4>(low_, {text, size}), sipHash<2, 4>(high_, {text, size})};
  ::explicit_bzero(text, size);
  return key;
}

// Whether the file has changed is found out beside the requests, which go on with what is known of it.
void Verifier::lookAfter(const std::shared_ptr<UsersFile>& file) {
  const int64_t now_ns = context_.loop().nowNs();
  if (!file->checkIsDue(now_ns)) return;
  if (!context_.tasks().hasThreads()) return file->check(now_ns);
  std::unique_ptr<event::Task> check = event::makeTask([file, now_ns] { file->check(now_ns); });
  static_cast<void>(context_.tasks().submit(check));  // where there is no room, the next second will do
}

Verifier::Now Verifier::verify(http::Exchange& exchange, const std::shared_ptr<UsersFile>& file,
                               const Credentials& credentials, int64_t max_age_ns,
                               const VerdictTaker& taker) {
  lookAfter(file);
  const OutcomeKey key = keyOf(*file, credentials);
  const int64_t now_ns = context_.loop().nowNs();
  // In this order: a look counts only after what it found is the generation.
  const bool file_known = file->isKnown(now_ns) || !context_.tasks().hasThreads();
  const uint64_t generation = file->generation();
  const OutcomeCache::Outcome known = cache_.find(key, generation, now_ns, max_age_ns);
  if (known == OutcomeCache::Outcome::kFails) return Now::kFails;
  const bool fitted = known == OutcomeCache::Outcome::kFits;
  if (fitted && file_known) return Now::kFits;
  if (!context_.tasks().hasThreads()) {
    const Secret password(credentials.password);
    const auto judgement = file->judge(std::string(credentials.user), password.text());
    cache_.put(key, judgement.generation, now_ns, judgement.fits);
    return judgement.fits ? Now::kFits : Now::kFails;
  }
  const auto [under_way, first] = pending_.try_emplace(key);
  if (under_way->second.size() >= kMaxWaitersOfOne) return refused();
  if (first) {
    auto job = std::make_unique<Job>(*this, key, file, credentials, fitted ? generation : 0);
    Job* const made = job.get();
    std::unique_ptr<event::Task> task = std::move(job);
    if (!queue_.submit(context_.tasks(), task, client_(exchange.client()))) {
      made->disarm();
      pending_.erase(under_way);
      return refused();
    }
  }
  under_way->second.push_back({exchange.handle(), std::string(credentials.user), &taker});
  return Now::kLater;
}

Verifier::Now Verifier::refused() noexcept {
  if (const http::HttpCounters* counters = context_.counters()) counters->logins_refused.add();
  return Now::kBusy;
}

void Verifier::finish(const OutcomeKey& key, Answer answer, uint64_t generation) noexcept {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  const std::vector<Waiter> waiters = std::move(found->second);
  pending_.erase(found);
  if (answer == Answer::kBusy) static_cast<void>(refused());
  if (answer != Answer::kBusy && generation != 0) {
    cache_.put(key, generation, context_.loop().nowNs(), answer == Answer::kFits);
  }
  for (const Waiter& waiter : waiters) {
    waiter.exchange.post([taker = waiter.taker, user = waiter.user, answer](http::Exchange& exchange) {
      taker->onAnswer(exchange, user, answer);
    });
  }
}

}  // namespace roost::modules::basic_auth
