#pragma once

#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>

#include "base/status.h"
#include "event/loop.h"
#include "net/io_context.h"
#include "net/load_gate.h"

namespace roost::net {

// The way of accepted sockets from the accepting thread to one IO loop: a single-producer ring and an
// eventfd. No lock, no allocation. It also knows how many connections its loop has, exactly: what was offered
// less what was closed.
class FdHandoff final : public event::IoHandler {
 public:
  static constexpr size_t kCapacity = 4096;
  static constexpr size_t kTurn = 256;  // sockets adopted before the loop's other events have their turn

  // `limit`: connections the loop may hold; UINT64_MAX is no limit. `target` outlives this.
  FdHandoff(IoContext& target, uint64_t limit) noexcept : target_(target), limit_(limit) {}
  ~FdHandoff();
  FdHandoff(const FdHandoff&) = delete;
  FdHandoff& operator=(const FdHandoff&) = delete;

  // Joins the target's loop. Before that loop runs.
  Status open();

  // Before the loop runs. nullptr, as at first: however busy the loop is.
  void setGate(const LoadGate* gate) noexcept { gate_ = gate; }

  // Accepting thread: below its limit, not overloaded, and with room in the ring?
  bool accepts() const noexcept { return !overloaded() && !full() && ring_.write_available() > 0; }
  bool overloaded() const noexcept { return gate_ != nullptr && !gate_->admitsConnections(); }
  bool full() const noexcept;                         // at its limit
  void offer(const AcceptedSocket& socket) noexcept;  // REQUIRES: accepts()
  void wake() noexcept;                               // after one or more offers

  // Target's loop. adoptAll(): all that is there, at once.
  void adoptAll() noexcept;
  void onIo(uint32_t events) noexcept override;

 private:
  IoContext& target_;
  const uint64_t limit_;
  const LoadGate* gate_ = nullptr;
  int event_fd_ = -1;
  uint64_t offered_ = 0;  // the accepting thread's
  bool unsignalled_ = false;
  boost::lockfree::spsc_queue<AcceptedSocket, boost::lockfree::capacity<kCapacity>> ring_;
};

}  // namespace roost::net
