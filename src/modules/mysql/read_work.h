// Requests that read rows, from the moment that it is known which table they are for.
#pragma once

#include <memory>

#include "tables/exposure.h"

namespace roost::db {
class Pool;
}
namespace roost::http {
class Exchange;
}

namespace roost::modules::mysql {

class SchemaAlarm;

// What a read needs of its route and its loop. `pool` and `alarm` outlive the exchange.
struct ReadSite {
  std::shared_ptr<const tables::Exposure> exposure;  // never nullptr
  db::Pool* pool = nullptr;
  SchemaAlarm* alarm = nullptr;
};

// Answers a GET or HEAD of `table`, which is one of the exposure's. Whoever calls has seen that the table may
// be read. Takes as long as the database does.
void startRead(http::Exchange& exchange, ReadSite site, const tables::ExposedTable& table) noexcept;

}  // namespace roost::modules::mysql
