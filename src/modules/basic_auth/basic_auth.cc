#include "modules/basic_auth/basic_auth.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file_trust.h"
#include "log/log.h"
#include "modules/basic_auth/verifier.h"

namespace roost::embedded {
extern const std::string_view basic_auth_schema;
}

namespace roost::modules::basic_auth {
namespace {

using Verifiers = std::vector<std::unique_ptr<Verifier>>;  // by loop

// RFC 9110 section 5.6.4.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class BasicAuth final : public http::RequestFilter, public VerdictTaker {
 public:
  BasicAuth(std::shared_ptr<UsersFile> file, const std::string& realm, int64_t max_age_ns,
            const Verifiers& verifiers)
      : file_(std::move(file)), max_age_ns_(max_age_ns), verifiers_(verifiers), challenge_(401), busy_(503) {
    challenge_.add("WWW-Authenticate", "Basic realm=" + quoted(realm) + ", charset=\"UTF-8\"");
    busy_.add("Retry-After", "1");
  }

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override {
    const http::RequestHead& head = exchange.request();
    const http::Field* field = head.find(http::FieldId::kAuthorization);
    SecretRoom room;
    Credentials credentials;
    // Of two fields it would be open which one counts.
    const bool given = field != nullptr && head.nextOf(*field) == nullptr &&
                       parseBasic(head.value(*field), room, credentials);
    if (!given) {
      note(exchange,
           field == nullptr ? "no Authorization field" : "the Authorization field is not to be read");
      exchange.replyError(401, &challenge_);
      return http::Verdict::kReplied;
    }
    const std::string user(credentials.user);
    Verifier& verifier = *verifiers_[exchange.context().index()];
    switch (verifier.verify(exchange, file_, credentials, max_age_ns_, *this)) {
      case Verifier::Now::kFits:
        return decide(exchange, user, Answer::kFits);
      case Verifier::Now::kFails:
        return decide(exchange, user, Answer::kFails);
      case Verifier::Now::kBusy:
        return decide(exchange, user, Answer::kBusy);
      case Verifier::Now::kLater:
        break;
    }
    return http::Verdict::kPaused;
  }

  void onAnswer(http::Exchange& exchange, const std::string& user, Answer answer) const noexcept override {
    // After a reply the next request of the connection may already stand in this exchange's place.
    if (decide(exchange, user, answer) == http::Verdict::kContinue) exchange.resume(http::Verdict::kContinue);
  }

 private:
  http::Verdict decide(http::Exchange& exchange, const std::string& user, Answer answer) const noexcept {
    switch (answer) {
      case Answer::kFits:
        note(exchange, "user \"" + user + "\" has given the right password");
        exchange.setUser(user);
        return http::Verdict::kContinue;
      case Answer::kFails:
        note(exchange, "no such user, or not the password of \"" + user + "\"");
        exchange.replyError(401, &challenge_);
        return http::Verdict::kReplied;
      case Answer::kBusy:
        note(exchange, "too many passwords wait to be verified");
        exchange.replyError(503, &busy_);
        return http::Verdict::kReplied;
    }
    return http::Verdict::kReplied;
  }
  static void note(http::Exchange& exchange, const std::string& what) noexcept {
    if (http::Trace* trace = exchange.trace()) trace->note("basic_auth: " + what);
  }

  const std::shared_ptr<UsersFile> file_;
  const int64_t max_age_ns_;
  const Verifiers& verifiers_;  // the module's
  http::ResponseHead challenge_;
  http::ResponseHead busy_;
};

class Module final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"basic_auth", embedded::basic_auth_schema, false, true};
  }
  // All but one of the task threads at once, so that files are still read while passwords are guessed.
  Status start(const module::StartContext& context) override {
    const int64_t threads = context.config["task_processes"].asInt();
    queue_ = std::make_unique<HashQueue>(static_cast<size_t>(std::max<int64_t>(threads - 1, 1)));
    verifiers_.resize(context.loop_count);
    for (const std::string& path : users_files_) {
      const std::string who = whoMayChange(path.c_str(), context.gave_up_root);
      if (!who.empty())
        LOG_WARN("users_file {} may be changed by {}, who then decides who may log in", path, who);
    }
    return {};
  }
  Result<module::RouteParts> build(config::Node options, const module::RouteContext&) override {
    auto file = UsersFile::open(options["users_file"].asString());
    if (!file.ok()) return file.status();
    users_files_.insert(options["users_file"].asString());
    constexpr int64_t kSecond = 1'000'000'000;
    module::RouteParts parts;
    parts.request_filters.push_back(std::make_shared<BasicAuth>(
        std::move(*file), options["realm"].asString(), options["cache_s"].asInt() * kSecond, verifiers_));
    return parts;
  }
  void onLoopStart(http::LoopContext& context) noexcept override {
    verifiers_[context.index()] = std::make_unique<Verifier>(context, *queue_, low_key_, high_key_);
  }
  void onLoopStop(http::LoopContext& context) noexcept override { verifiers_[context.index()].reset(); }

 private:
  const SipKey low_key_ = SipKey::random();
  const SipKey high_key_ = SipKey::random();
  std::unique_ptr<HashQueue> queue_;
  Verifiers verifiers_;
  std::set<std::string> users_files_;
};

}  // namespace

std::unique_ptr<module::Module> makeBasicAuth() {
  return std::make_unique<Module>();
}

}  // namespace roost::modules::basic_auth
