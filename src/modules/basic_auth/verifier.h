#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/sip_hash.h"
#include "http/exchange.h"
#include "modules/basic_auth/credentials.h"
#include "modules/basic_auth/hash_queue.h"
#include "modules/basic_auth/outcome_cache.h"
#include "modules/basic_auth/users_file.h"
#include "net/address_hash.h"

namespace roost::modules::basic_auth {

enum class Answer : uint8_t { kFits, kFails, kBusy };

// Who is told how a verification came out. Immutable, part of the Service that the exchange holds.
class VerdictTaker {
 public:
  virtual void onAnswer(http::Exchange& exchange, const std::string& user, Answer answer) const noexcept = 0;

 protected:
  ~VerdictTaker() = default;
};

// One loop's way to have passwords verified: what is known already is answered at once, what is being
// verified is waited for, and the rest goes to the task threads. Owned by the module, from onLoopStart to
// onLoopStop; loop thread.
class Verifier {
 public:
  static constexpr size_t kMaxWaitersOfOne = 1024;  // exchanges that wait for one and the same verification

  // `queue` outlives this.
  Verifier(http::LoopContext& context, HashQueue& queue, const SipKey& low, const SipKey& high) noexcept
      : context_(context),
        queue_(queue),
        low_(low),
        high_(high),
        client_(low, net::AddressHash::kUsualPrefixBits) {}

  enum class Now : uint8_t { kFits, kFails, kBusy, kLater };
  // With kLater `taker` is told, unless the exchange is over by then. A success counts for `max_age_ns`.
  Now verify(http::Exchange& exchange, const std::shared_ptr<UsersFile>& file, const Credentials& credentials,
             int64_t max_age_ns, const VerdictTaker& taker);

 private:
  class Job;
  struct Waiter {
    http::ExchangeHandle exchange;
    std::string user;
    const VerdictTaker* taker;  // lives as long as the exchange
  };
  struct KeyHash {
    size_t operator()(const OutcomeKey& key) const noexcept { return static_cast<size_t>(key.low); }
  };
  OutcomeKey keyOf(const UsersFile& file, const Credentials& credentials) const;
  Now refused() noexcept;
  void lookAfter(const std::shared_ptr<UsersFile>& file);
  // `generation` that it was judged by, 0: it was known before and is not renewed.
  void finish(const OutcomeKey& key, Answer answer, uint64_t generation) noexcept;

  http::LoopContext& context_;
  HashQueue& queue_;
  const SipKey low_;
  const SipKey high_;
  const net::AddressHash client_;
  OutcomeCache cache_;
  std::unordered_map<OutcomeKey, std::vector<Waiter>, KeyHash> pending_;
};

}  // namespace roost::modules::basic_auth
