#include "module/registry.h"

#include <catch2/catch.hpp>

#include "config/config.h"
#include "unit/module/tiny_module.h"

using namespace roost;
using namespace roost::module;
using namespace roost::module::test;

namespace {

std::vector<std::unique_ptr<Module>> two(Notes& notes, bool second_fails = false) {
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::make_unique<TinyModule>("one", notes));
  auto second = std::make_unique<TinyModule>("two", notes);
  second->fails_to_start = second_fails;
  modules.push_back(std::move(second));
  return modules;
}

}  // namespace

TEST_CASE("a module is found by its key and by no other", "[module]") {
  Notes notes;
  const Registry registry(two(notes));
  REQUIRE(registry.size() == 2);
  REQUIRE(registry.find("one") != nullptr);
  REQUIRE(registry.find("two") != nullptr);
  REQUIRE(registry.find("one") != registry.find("two"));
  REQUIRE(registry.find("three") == nullptr);
  REQUIRE(registry.find("") == nullptr);
}

TEST_CASE("the schema knows every module's key", "[module]") {
  Notes notes;
  const Registry registry(two(notes));
  const auto schema = registry.schema();
  REQUIRE(schema.ok());
  const auto load = [&](const std::string& route) {
    return config::loadText(R"({"http": {"sites": [{"routes": [{"path": "/", )" + route + "}]}]}}", "t.json",
                            *schema);
  };
  REQUIRE(load(R"("one": {})").ok());
  REQUIRE(load(R"("two": {"refuse": "x"})").ok());
  REQUIRE_FALSE(load(R"("two": {"refuses": "x"})").ok());
  REQUIRE_FALSE(load(R"("three": {})").ok());
}

TEST_CASE("a key that two modules claim is an error", "[module]") {
  Notes notes;
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::make_unique<TinyModule>("one", notes));
  modules.push_back(std::make_unique<TinyModule>("one", notes));
  REQUIRE_FALSE(Registry(std::move(modules)).schema().ok());
}

TEST_CASE("modules start in order and stop in reverse", "[module]") {
  Notes notes;
  {
    Registry registry(two(notes));
    REQUIRE(registry.start({realSys(), 3, config::Node()}).ok());
    registry.stop();
    registry.stop();
  }
  REQUIRE(notes == Notes{"one start 3", "two start 3", "two stop", "one stop"});
}

TEST_CASE("a module that cannot start takes back those before it", "[module]") {
  Notes notes;
  {
    Registry registry(two(notes, true));
    const Status status = registry.start({realSys(), 1, config::Node()});
    REQUIRE(status.message() == "two cannot start");
  }
  REQUIRE(notes == Notes{"one start 1", "two start 1", "one stop"});
}

TEST_CASE("those that have started are told to look again", "[module]") {
  Notes notes;
  Registry registry(two(notes));
  registry.onReload();
  CHECK(notes.empty());
  REQUIRE(registry.start({realSys(), 1, config::Node()}).ok());
  notes.clear();
  registry.onReload();
  CHECK(notes == Notes{"one reload", "two reload"});
  CHECK_FALSE(registry.usesDatabase());
  dynamic_cast<TinyModule&>(*registry.find("two")).uses_database = true;
  CHECK(registry.usesDatabase());
}
