#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/node.h"

namespace roost::db {
class Database;
struct Options;
}  // namespace roost::db
namespace roost::event {
class Loop;
}
namespace roost::metrics {
class Registry;
}

namespace roost::server {

// The database of the process, where a module uses it and the build has it. Main thread, but for the loops'
// calls; made before the loops, outlives them.
class DatabaseHost {
 public:
  DatabaseHost() noexcept;
  ~DatabaseHost();
  DatabaseHost(const DatabaseHost&) = delete;
  DatabaseHost& operator=(const DatabaseHost&) = delete;

  static bool supported() noexcept;  // by this build
  // What of the configuration's `mysql` the schema cannot see.
  static void check(config::Node root, std::vector<config::Diagnostic>& errors);
  static db::Options optionsOf(config::Node root);

  // Makes it; connects to nobody yet. Errors: no threads.
  Status open(config::Node root, uint32_t loop_count, metrics::Registry& metrics);
  db::Database* database() const noexcept { return database_.get(); }  // nullptr before
  // "at most 16 connections to db:3306 and 2 replicas, by the loops". REQUIRES: open().
  std::string description() const;

  // On the loop's own thread, around its modules' time.
  void startLoop(event::Loop& loop) noexcept;
  void stopLoop(event::Loop& loop) noexcept;
  void stop() noexcept;  // after the loops have ended, while they stand; idempotent

 private:
  std::unique_ptr<db::Database> database_;
};

}  // namespace roost::server
