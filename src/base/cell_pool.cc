#include "base/cell_pool.h"

#include <mutex>

namespace roost {

CellPool* keepForEver(CellPool* pool) {
  static std::mutex lock;
  static auto* const pools = new std::vector<CellPool*>;
  const std::lock_guard<std::mutex> guard(lock);
  pools->push_back(pool);
  return pool;
}

}  // namespace roost
