// Requests that change rows, from the moment that it is known which table they are for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tables/body_budget.h"
#include "tables/exposure.h"

namespace roost::db {
class Pool;
}
namespace roost::http {
class Exchange;
}
namespace roost::push {
class Shard;
}

namespace roost::modules::mysql {

// Who looks at the schema anew when a statement says that it has changed (1054, 1146 ...). A loop's thread.
class SchemaAlarm {
 public:
  virtual void onSchemaChanged() noexcept = 0;

 protected:
  ~SchemaAlarm() = default;
};

// What a write needs of its route and its loop. `pool`, `shard` and `alarm` outlive the exchange.
struct WriteSite {
  std::shared_ptr<const tables::Exposure> exposure;  // never nullptr
  db::Pool* pool = nullptr;
  ::roost::push::Shard* shard = nullptr;       // where tables' `publish` channels are; nullptr: no hub
  SchemaAlarm* alarm = nullptr;                // may be nullptr
  std::string base;                            // the route's path as clients write it, "/data/": for Location
  std::shared_ptr<tables::BodyBudget> bodies;  // nullptr: no bound
  uint32_t max_body_bytes = 1u << 20;
};

// Answers a POST, PATCH, PUT or DELETE of `table`, which is one of the exposure's. Whoever calls has seen
// that the table allows the method. Reads the body, and takes as long as the database does.
void startWrite(http::Exchange& exchange, WriteSite site, const tables::ExposedTable& table) noexcept;

// Answers a POST of a list of operations: all of them or none, in one transaction.
void startBatch(http::Exchange& exchange, WriteSite site) noexcept;

}  // namespace roost::modules::mysql
