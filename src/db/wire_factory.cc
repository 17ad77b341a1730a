#include "db/wire.h"

namespace roost::db {

bool hasLoopDriver() noexcept {
  return false;
}

std::unique_ptr<WireFactory> makeWireFactory(const Options&, Driver) {
  return nullptr;
}

}  // namespace roost::db
