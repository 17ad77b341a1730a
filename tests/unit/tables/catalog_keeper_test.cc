#include "tables/catalog_keeper.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "unit/tables/scripted_connection.h"

namespace roost::tables {
namespace {

constexpr std::chrono::seconds kLong{30};  // nothing here takes that long unless it hangs

// A database, what a keeper says of it, and a lock around both.
class World : public CatalogListener {
 public:
  explicit World(uint32_t poll_ms = 0) {
    KeeperOptions options;
    options.database = "shop";
    options.poll_ms = poll_ms;
    options.first_retry_ms = 1;
    options.max_retry_ms = 2;
    options.least_pause_ms = 0;
    options.stop_wait_ms = 20;
    schema.rows["TABLES"] = {{"parts", "BASE TABLE", ""}};
    schema.rows["COLUMNS"] = {{"parts", "a", "int", "int", std::nullopt, "NO", std::nullopt, std::nullopt,
                               std::nullopt, std::nullopt, std::nullopt, "", std::nullopt, ""}};
    keeper = std::make_unique<CatalogKeeper>(
        options, [this](db::Error& error) { return open(error); }, *this);
  }
  virtual ~World() {
    keeper->stop();
    set([this] { hangs = false; });
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kLong, [this] { return open_connections == 0; });
  }

  template <class Fn>
  void set(Fn&& fn) {
    const std::lock_guard lock(mutex);
    fn();
    changed.notify_all();
  }
  template <class Condition>
  bool waitFor(Condition&& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kLong, condition);
  }

  std::mutex mutex;  // of what follows
  ScriptedSchema schema;
  std::condition_variable changed;
  std::vector<std::shared_ptr<const Catalog>> told;
  std::vector<uint32_t> unreadable;  // the errors' numbers
  db::Error failure;
  bool fails = false;
  bool refuses = false;  // connections
  bool hangs = false;
  int opened = 0;
  int open_connections = 0;
  int asked = 0;  // statements
  std::unique_ptr<CatalogKeeper> keeper;

 private:
  void onCatalog(const std::shared_ptr<const Catalog>& catalog) noexcept override {
    set([&] { told.push_back(catalog); });
  }
  void onUnreadable(const db::Error& error) noexcept override {
    set([&] { unreadable.push_back(error.number); });
  }

  // Tells when it ends.
  class Watched final : public db::Connection {
   public:
    explicit Watched(World& world) : world_(world), scripted_(world.schema) {}
    ~Watched() override {
      world_.set([this] { --world_.open_connections; });
    }
    bool run(const db::Statement& statement, const OnRow& on_row, db::Error& error) override {
      const std::unique_lock lock = world_.begin();
      error = world_.failure;
      return !world_.fails && scripted_.run(statement, on_row, error);
    }
    uint64_t threadId() const noexcept override { return 1; }
    bool isMariaDb() const noexcept override { return true; }
    std::string serverVersion() const override { return "10.11.6-MariaDB"; }

   private:
    World& world_;
    ScriptedConnection scripted_;
  };

  // Of a statement, which may hang.
  std::unique_lock<std::mutex> begin() {
    std::unique_lock lock(mutex);
    ++asked;
    changed.notify_all();
    changed.wait(lock, [this] { return !hangs; });
    return lock;
  }

  std::unique_ptr<db::Connection> open(db::Error& error) {
    const std::lock_guard lock(mutex);
    ++opened;
    changed.notify_all();
    if (refuses) {
      error = {db::ErrorKind::kUnavailable, 2002, "HY000", "refused", 0};
      return nullptr;
    }
    ++open_connections;
    return std::make_unique<Watched>(*this);
  }
};

TEST_CASE("a keeper tries until the schema can be read", "[tables]") {
  World world;
  world.refuses = true;
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return world.opened >= 3; }));
  CHECK(world.told.empty());
  world.set([&] { world.refuses = false; });
  REQUIRE(world.waitFor([&] { return world.told.size() == 1; }));
  CHECK(world.told[0]->find("parts") != nullptr);
}

TEST_CASE("a keeper tells why there is no schema, until there is one", "[tables]") {
  World world(1);
  world.refuses = true;
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return !world.unreadable.empty(); }));
  CHECK(world.unreadable.back() == 2002);
  world.set([&] {
    world.failure.number = 1109;
    world.refuses = false;
    world.fails = true;
  });
  REQUIRE(world.waitFor([&] { return world.unreadable.back() == 1109; }));
  world.set([&] { world.fails = false; });
  REQUIRE(world.waitFor([&] { return world.told.size() == 1; }));
  size_t said = 0;
  world.set([&] {
    said = world.unreadable.size();
    world.fails = true;
  });
  REQUIRE(world.waitFor([&, from = world.asked] { return world.asked > from + 5; }));
  CHECK(world.unreadable.size() == said);  // the last schema stays
}

TEST_CASE("a keeper tells of a schema once, and again when it has changed", "[tables]") {
  World world(1);
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return world.told.size() == 1; }));
  REQUIRE(world.waitFor([&, from = world.asked] { return world.asked > from + 5; }));
  CHECK(world.told.size() == 1);
  world.set([&] { world.schema.fingerprint = "2"; });
  REQUIRE(world.waitFor([&] { return world.told.size() == 2; }));
  CHECK(world.told[1]->fingerprint == "2");
  CHECK(world.opened == 1);
}

TEST_CASE("a keeper looks when it is asked, and reads anew when it is told to", "[tables]") {
  World world;
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return world.told.size() == 1; }));
  int asked = 0;
  world.set([&] { asked = world.asked; });
  world.keeper->look();
  REQUIRE(world.waitFor([&] { return world.asked == asked + 1; }));
  world.keeper->reload();
  REQUIRE(world.waitFor([&] { return world.told.size() == 2; }));
  CHECK(world.told[1]->fingerprint == world.told[0]->fingerprint);
}

TEST_CASE("the last schema stays while there is no reading it", "[tables]") {
  World world(1);
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return world.told.size() == 1; }));
  world.set([&] {
    world.schema.fingerprint = "2";
    world.failure.kind = db::ErrorKind::kLost;
    world.fails = true;
  });
  REQUIRE(world.waitFor([&, from = world.opened] { return world.opened > from + 4; }));
  CHECK(world.told.size() == 1);
  world.set([&] { world.fails = false; });
  REQUIRE(world.waitFor([&] { return world.told.size() == 2; }));
}

TEST_CASE("a statement that is refused costs no connection", "[tables]") {
  World world(1);
  world.fails = true;
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return world.asked > 5; }));
  CHECK(world.opened == 1);
}

TEST_CASE("a keeper stops while the database hangs", "[tables]") {
  World world(1);
  world.keeper->start();
  REQUIRE(world.waitFor([&] { return world.told.size() == 1; }));
  world.set([&] { world.hangs = true; });
  REQUIRE(world.waitFor([&, from = world.asked] { return world.asked > from; }));
  world.keeper->stop();  // returns
  world.set([&] {
    world.hangs = false;
    world.schema.fingerprint = "2";
  });
  REQUIRE(world.waitFor([&] { return world.open_connections == 0; }));
  CHECK(world.told.size() == 1);
}

}  // namespace
}  // namespace roost::tables
