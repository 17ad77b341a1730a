#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tables/catalog.h"

namespace roost::db {
class Connection;
class SpareSessions;
struct Error;
struct Options;
}  // namespace roost::db

namespace roost::tables {

struct KeeperOptions {
  std::string database;
  std::string time_zone;          // of the sessions, for Catalog::time_zone
  uint32_t poll_ms = 5000;        // how often to look whether the schema is still the same; 0: when asked
  uint32_t first_retry_ms = 100;  // after a failure, doubled with each one that follows
  uint32_t max_retry_ms = 5000;
  uint32_t least_pause_ms = 200;  // between two looks, however often it is asked
  uint32_t stop_wait_ms = 300;    // what stop() gives to a thread that waits for the database
};

// Hears what a CatalogKeeper finds out, on the keeper's thread. It does not block, and calls nothing of the
// keeper but look() and reload(). Outlives stop(), behind which it is not called any more.
class CatalogListener {
 public:
  virtual void onCatalog(const std::shared_ptr<const Catalog>& catalog) noexcept = 0;
  // An attempt has failed, and there is no Catalog yet.
  virtual void onUnreadable(const db::Error& error) noexcept = 0;

 protected:
  ~CatalogListener() = default;
};

// Knows the present schema. Its thread reads it with a connection of its own, at first until that succeeds,
// and again when its fingerprint changes; while it cannot be read the last one stays. Owned by who serves
// tables, on the main thread; look() and reload() are any thread's.
class CatalogKeeper {
 public:
  // nullptr: the error says why.
  using Open = std::function<std::unique_ptr<db::Connection>(db::Error&)>;

  CatalogKeeper(KeeperOptions options, Open open, CatalogListener& listener);
  ~CatalogKeeper();  // stops
  CatalogKeeper(const CatalogKeeper&) = delete;
  CatalogKeeper& operator=(const CatalogKeeper&) = delete;

  // How to reach the primary; its statements may take so long at most as keeping a schema can wait.
  // The connection is one of `spares`.
  static Open openPrimary(const db::Options& options, std::shared_ptr<db::SpareSessions> spares);

  void start();
  void look() noexcept;    // now, whether the schema is still the same: a statement was refused
  void reload() noexcept;  // read it now, whatever its fingerprint says
  // Ends the thread, or lets go of it where it hangs in the client library: it then ends by itself, and
  // touches nothing. Within stop_wait_ms.
  void stop() noexcept;

 private:
  class Worker;
  const std::shared_ptr<Worker> worker_;
  std::thread thread_;
};

}  // namespace roost::tables
