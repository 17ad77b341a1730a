#include "support/sim_sys.h"

namespace roost::test {

void SimPeer::write(std::string_view bytes) {
  const SimSys::Guard guard(sys_->mutex_);
  end_->deliver(bytes.data(), bytes.size());
}

std::string SimPeer::read(size_t most) {
  const SimSys::Guard guard(sys_->mutex_);
  return end_->take(most);
}

size_t SimPeer::readable() const {
  const SimSys::Guard guard(sys_->mutex_);
  return end_->in.size();
}

void SimPeer::shutdownWrite() {
  const SimSys::Guard guard(sys_->mutex_);
  end_->endWriting();
}

void SimPeer::close() {
  const SimSys::Guard guard(sys_->mutex_);
  end_->hangUp(false);
}

void SimPeer::reset() {
  const SimSys::Guard guard(sys_->mutex_);
  end_->hangUp(true);
}

bool SimPeer::sawEnd() const {
  const SimSys::Guard guard(sys_->mutex_);
  return end_->fin && !end_->reset && end_->in.empty();
}

bool SimPeer::sawReset() const {
  const SimSys::Guard guard(sys_->mutex_);
  return end_->reset;
}

std::vector<sim::Send> SimPeer::sends() const {
  const SimSys::Guard guard(sys_->mutex_);
  return other_->sends;
}

void SimPeer::forgetSends() {
  const SimSys::Guard guard(sys_->mutex_);
  other_->sends.clear();
}

}  // namespace roost::test
