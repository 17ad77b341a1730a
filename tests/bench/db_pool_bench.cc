// links: roost_db benchmark::benchmark
//
// What the pool itself costs a request, over a wire that answers at once: nothing of a database is in it.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/sys.h"
#include "db/database.h"
#include "event/loop.h"

namespace {

using namespace roost;
using namespace roost::db;

class PromptWire final : public Wire {
 public:
  void setListener(WireListener& listener) noexcept override { listener_ = &listener; }
  void execute(const Statement&) noexcept override { listener_->onResult({}); }
  void resume() noexcept override {}
  bool alive() noexcept override { return true; }
  bool inTransaction() const noexcept override { return false; }
  uint64_t threadId() const noexcept override { return 1; }
  uint64_t prepares() const noexcept override { return 0; }

 private:
  WireListener* listener_ = nullptr;
};

class PromptFactory final : public WireFactory {
 public:
  void connect(event::Loop&, size_t, std::unique_ptr<ConnectCall> call) noexcept override {
    calls.push_back(std::move(call));
  }
  void kill(event::Loop&, size_t, uint64_t, std::unique_ptr<KillCall> call) noexcept override {
    call->onDone(true);
  }
  void stop() noexcept override {}
  void connectAll() {
    for (const auto& call : std::exchange(calls, {})) call->onConnected(std::make_unique<PromptWire>());
  }
  std::vector<std::unique_ptr<ConnectCall>> calls;
};

// Reads once; holds its connection where it is told to.
class Reader final : public Work {
 public:
  explicit Reader(bool holds = false) : holds_(holds) {}
  void onConnection(Link& link) noexcept override {
    held = &link;
    if (!holds_) link.execute({});
  }
  void onResult(Link& link, const Outcome&) noexcept override { link.release(); }
  void onError(Link*, const Error&) noexcept override {}
  Link* held = nullptr;

 private:
  const bool holds_;
};

struct Pools {
  Pools() {
    auto made = std::make_unique<PromptFactory>();
    factory = made.get();
    Options options;
    options.max_connections = 8;
    options.max_waiting = 1'000'000;
    database = std::make_unique<PooledDatabase>(options, Driver::kLoop, 1, std::move(made), nullptr);
    loop = std::move(event::Loop::create(realSys(), 0)).value();
    database->startLoop(*loop);
  }
  ~Pools() { database->stopLoop(*loop); }
  PromptFactory* factory;
  std::unique_ptr<event::Loop> loop;
  std::unique_ptr<PooledDatabase> database;
};

void idleConnection(benchmark::State& state) {
  Pools pools;
  Reader first;
  pools.database->pool(0).request(first);
  pools.factory->connectAll();
  for (auto _ : state) {
    Reader reader;
    pools.database->pool(0).request(reader, Role::kReplica);
  }
}
BENCHMARK(idleConnection);

// All connections are busy; each one that comes back serves who waits first.
void waiting(benchmark::State& state) {
  Pools pools;
  std::vector<std::unique_ptr<Reader>> holders;
  for (int i = 0; i < 8; ++i) {
    holders.push_back(std::make_unique<Reader>(true));
    pools.database->pool(0).request(*holders.back());
  }
  pools.factory->connectAll();
  constexpr int kBatch = 1000;
  std::vector<Reader> readers(kBatch);
  for (auto _ : state) {
    for (Reader& reader : readers) pools.database->pool(0).request(reader);
    holders[0]->held->release();
    state.PauseTiming();
    pools.database->pool(0).request(*holders[0]);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(waiting);

}  // namespace

BENCHMARK_MAIN();
