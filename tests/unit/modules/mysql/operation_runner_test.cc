// Operations on a scripted connection: what surrounds them, and what is told when it breaks.
#include "modules/mysql/operation_runner.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "unit/tables/write_case.h"

namespace {

using namespace roost;  // NOLINT
using modules::mysql::OperationRunner;

class FakeLink final : public db::Link {
 public:
  void execute(db::Statement statement, uint32_t) noexcept override {
    if (answers == nullptr) {
      said += test::statementText(statement) + "; ";
    } else {
      ++executed;
      answers->onResult(*this, {});
    }
  }
  void resume() noexcept override {}
  bool inTransaction() const noexcept override { return false; }
  void release() noexcept override { said += "released; "; }
  std::string said;
  db::Work* answers = nullptr;  // each statement has its result at once
  size_t executed = 0;
};

class Owner final : public modules::mysql::OperationsDone {
 public:
  void onOperationsDone() noexcept override { told = "done"; }
  void onOperationFailed(size_t index, const tables::Problem& problem,
                         uint32_t retry_after_s) noexcept override {
    told = fmt::format("{}: {} {} +{}", index, problem.status, problem.code, retry_after_s);
  }
  std::string told;
};

struct Run {
  explicit Run(std::vector<const char*> requests, bool rolls_back = false, bool at_once = false,
               const std::string& method = "DELETE")
      : exposure(test::writableExposure("10.11.6-MariaDB")),
        runner(operations(requests, method == "PUT"), rolls_back, owner) {
    if (at_once) link.answers = &work;
    work.onConnection(link);
  }

  std::vector<std::unique_ptr<tables::Operation>> operations(const std::vector<const char*>& requests,
                                                             bool puts) {
    std::vector<std::unique_ptr<tables::Operation>> made;
    for (const char* const prefer : requests) {
      tables::Query query;
      tables::Problem problem;
      tables::WriteOptions options;
      REQUIRE(tables::parseQuery(puts ? "id=eq.5" : "a=eq.1", exposure->config->limits, query, problem));
      options.method = puts ? tables::kUpsert : tables::kDelete;
      tables::readPreferences(prefer, options.preferences);
      tables::Body body;
      if (puts) body.rows.emplace_back();
      made.push_back(tables::planWrite(*exposure->find(puts ? "items" : "keyless"), *exposure,
                                       std::move(query), options, std::move(body), problem));
      REQUIRE(made.back() != nullptr);
    }
    return made;
  }

  void succeed(uint64_t affected = 1) {
    db::Outcome outcome;
    outcome.affected_rows = affected;
    work.onResult(link, outcome);
  }
  void fail(db::ErrorKind kind, uint32_t number = 0) {
    const bool goes_on = kind == db::ErrorKind::kStatement || kind == db::ErrorKind::kTimeout;
    work.onError(goes_on ? &link : nullptr, {kind, number, "", "", 0});
  }

  const std::shared_ptr<const tables::Exposure> exposure;
  FakeLink link;
  Owner owner;
  OperationRunner runner;
  db::Work& work = runner;
};

const std::string kDelete = "DELETE FROM `keyless` WHERE `a` = ? | 1; ";

TEST_CASE("one statement needs no transaction") {
  Run run({""});
  run.succeed();
  CHECK(run.link.said == kDelete + "released; ");
  CHECK(run.owner.told == "done");
}

TEST_CASE("several operations are one transaction") {
  Run run({"", ""});
  for (int i = 0; i < 4; ++i) run.succeed();
  CHECK(run.link.said == "START TRANSACTION; " + kDelete + kDelete + "COMMIT; released; ");
  CHECK(run.owner.told == "done");
}

TEST_CASE("what is looked at comes before the transaction") {
  const std::string look = "SELECT 1 FROM `items` WHERE `id` IN (?) | 5; ";
  const std::string insert = "INSERT INTO `items` (`id`) VALUES (?) | 5; ";
  const std::string lock = "SELECT 1 FROM `items` WHERE `id` IN (?) FOR UPDATE | 5; ";
  Run run({""}, false, false, "PUT");
  run.succeed();
  CHECK(run.link.said == look + "START TRANSACTION; ");
  for (int i = 0; i < 3; ++i) run.succeed();
  CHECK(run.link.said == look + "START TRANSACTION; " + insert + "COMMIT; released; ");
  CHECK(run.owner.told == "done");
  Run two({"", ""}, false, false, "PUT");
  two.succeed();
  CHECK(two.link.said == look + look);
  two.succeed();
  CHECK(two.link.said == look + look + "START TRANSACTION; ");
  two.succeed();
  two.fail(db::ErrorKind::kStatement, 1062);
  CHECK(two.link.said == look + look + "START TRANSACTION; " + insert + "START TRANSACTION; ");
  two.succeed();
  CHECK(two.link.said.compare(two.link.said.size() - lock.size(), lock.size(), lock) == 0);
  // What was there before is not given up for the second one.
  Run second({"", ""}, false, false, "PUT");
  for (int i = 0; i < 4; ++i) second.succeed();
  second.fail(db::ErrorKind::kStatement, 1062);
  CHECK(second.link.said == look + look + "START TRANSACTION; " + insert + insert + lock);
  Run lost({""}, false, false, "PUT");
  lost.fail(db::ErrorKind::kLost);
  CHECK(lost.owner.told == "0: 503 database_unavailable +1");
  Run changed({"", ""}, false, false, "PUT");
  changed.succeed();
  changed.fail(db::ErrorKind::kStatement, 1146);
  CHECK(changed.owner.told == "1: 503 schema_changed +1");
}

TEST_CASE("results that come at once") {
  constexpr size_t kMany = 20'000;
  Run run(std::vector<const char*>(kMany, ""), false, true);
  CHECK(run.owner.told == "done");
  CHECK(run.link.executed == kMany + 2);
}

TEST_CASE("nothing stays where that is asked for") {
  Run run({""}, true);
  for (int i = 0; i < 2; ++i) run.succeed();
  CHECK(run.link.said == "START TRANSACTION; " + kDelete + "released; ");
  CHECK(run.owner.told == "done");
}

TEST_CASE("an operation that fails takes the others with it") {
  Run refused({"", ""});
  for (int i = 0; i < 2; ++i) refused.succeed();
  refused.fail(db::ErrorKind::kStatement, 1451);
  CHECK(refused.link.said == "START TRANSACTION; " + kDelete + kDelete + "released; ");
  CHECK(refused.owner.told == "1: 409 foreign_key_violation +0");
  Run deadlock({"", ""});
  deadlock.succeed();
  deadlock.fail(db::ErrorKind::kStatement, 1213);
  CHECK(deadlock.owner.told == "0: 409 deadlock +1");
  Run many({"handling=strict,max-affected=1"});
  many.succeed();
  many.succeed(2);
  CHECK(many.link.said == "START TRANSACTION; " + kDelete + "released; ");
  CHECK(many.owner.told == "0: 400 max_affected_exceeded +0");
}

TEST_CASE("what becomes of a write whose connection dies") {
  struct Case {
    std::vector<const char*> requests;
    int done;  // statements before it
    db::ErrorKind kind;
    const char* told;
    uint32_t number = 0;
  };
  using Kind = db::ErrorKind;
  for (const Case& one :
       std::initializer_list<Case>{{{""}, 0, Kind::kLost, "0: 503 outcome_unknown +0"},
                                   {{""}, 0, Kind::kTimeout, "0: 504 query_timeout +0", 1317},
                                   {{""}, 0, Kind::kTimeout, "0: 503 outcome_unknown +0"},
                                   {{"", ""}, 1, Kind::kTimeout, "0: 504 query_timeout +0"},
                                   {{"", ""}, 0, Kind::kLost, "0: 503 database_unavailable +1"},
                                   {{"", ""}, 1, Kind::kLost, "0: 503 database_unavailable +1"},
                                   {{"", ""}, 2, Kind::kLost, "1: 503 database_unavailable +1"},
                                   {{"", ""}, 3, Kind::kLost, "2: 503 outcome_unknown +0"},
                                   {{"", ""}, 3, Kind::kTimeout, "2: 503 outcome_unknown +0", 1317},
                                   {{""}, 0, Kind::kQueueFull, "0: 503 pool_full +1"}}) {
    Run run(one.requests);
    for (int i = 0; i < one.done; ++i) run.succeed();
    run.fail(one.kind, one.number);
    CHECK(run.owner.told == one.told);
  }
}

}  // namespace
