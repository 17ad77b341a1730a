#include "db/pool.h"

#include <cassert>

namespace roost::db {

Work::~Work() {
  if (pool_ != nullptr) pool_->cancel(*this);
}

void Work::onColumns(Link&, const ResultColumns&) noexcept {}

bool Work::onRow(Link&, const Row&) noexcept {
  return true;
}

void Pool::request(Work& work, Role role) noexcept {
  assert(work.pool_ == nullptr);
  work.pool_ = this;
  onRequest(work, role);
}

void Pool::cancel(Work& work) noexcept {
  if (work.pool_ == nullptr) return;
  assert(work.pool_ == this);
  onCancel(work);
  assert(work.pool_ == nullptr);
}

void Pool::detach(Work& work) noexcept {
  work.pool_ = nullptr;
  work.link_ = nullptr;
  if (work.place_.linked()) work.place_.unlink();
}

}  // namespace roost::db
