#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/slab.h"
#include "base/status.h"
#include "event/loop.h"
#include "net/address.h"
#include "net/address_limit.h"
#include "net/chunk.h"
#include "net/connection.h"
#include "net/counters.h"
#include "net/out_queue.h"
#include "net/session.h"
#include "net/transport.h"

namespace roost::net {

class Evictor;

// A socket fresh from accept4, on its way to the loop that will hold it.
struct AcceptedSocket {
  int fd;
  PeerAddr peer;
  uint16_t listener;
  uint64_t address_hash = 0;  // under which AddressLimit counts it; 0: not at all
};

// GrowthListener hears that a loop has taken much memory since it last heard of it. It is called on each
// loop's thread.
class GrowthListener {
 public:
  virtual void onGrowth() noexcept = 0;

 protected:
  ~GrowthListener() = default;
};

// What the connections of one loop share: the slab they live in, buffers, the timing wheel. Made before its
// loop runs, used on the loop's thread, destroyed after the loop has ended; the load counters may be read by
// any thread.
class IoContext final : private event::Timer, private event::Task {
 public:
  static constexpr uint32_t kTickMs = 250;

  explicit IoContext(event::Loop& loop) noexcept;
  ~IoContext();  // closeAll()
  IoContext(const IoContext&) = delete;
  IoContext& operator=(const IoContext&) = delete;

  // Connections of listener `index` get their sessions from `factory`. Before the loop runs.
  void setFactory(uint16_t index, SessionFactory& factory);
  // Milliseconds that closing waits for a peer's last bytes; 0: it does not wait.
  void setLingerMs(uint32_t ms) noexcept { linger_ms_ = ms; }

  // Counts there; it outlives this. nullptr, as at first: nowhere.
  void setCounters(const IoCounters* counters) noexcept { counters_ = counters; }

  // Tells it at the end of a batch in which what was read and what was queued since it was last told has come
  // to `step_bytes`. That memory may have been given back since; whoever hears it looks. nullptr, as at
  // first: nobody. Before the loop runs; it outlives this.
  void setGrowthListener(GrowthListener* listener, size_t step_bytes) noexcept {
    growth_listener_ = listener;
    growth_step_ = step_bytes;
  }
  // Who chooses what is closed when something runs out; nullptr, as at first: nobody.
  void setEvictor(Evictor* evictor) noexcept { evictor_ = evictor; }
  Evictor* evictor() const noexcept { return evictor_; }

  // Where accepted connections were counted; it outlives this. nullptr, as at first: nowhere.
  void setAddressLimit(AddressLimit* limit) noexcept { address_limit_ = limit; }

  // Takes over an accepted socket and serves it.
  void adopt(const AcceptedSocket& socket) noexcept;
  // Begins to connect; the session is told how that goes. An error here means that nothing was begun. `local`
  // is the address to come from. With port 0 the kernel chooses a port only when it connects
  // (IP_BIND_ADDRESS_NO_PORT), so that one local port may serve connections to different peers.
  Status connect(const SocketAddress& address, Session& session,
                 const SocketAddress* local = nullptr) noexcept;

  // Closes every connection; their sessions hear of it before this returns. REQUIRES: the loop is not
  // running.
  void closeAll() noexcept;

  // Connections of this loop by name; nullptr when it is gone.
  Connection* find(uint32_t slot, uint32_t generation) noexcept {
    return connections_.find(slot, generation);
  }
  uint32_t generation(const Connection& connection) const noexcept {
    return connections_.generation(connection.slot());
  }
  template <class Fn>
  void forEach(Fn&& fn) {
    connections_.forEach(std::forward<Fn>(fn));
  }
  // The same for those in `most` slots from `first` on; returns where to go on, 0 after the last.
  template <class Fn>
  uint32_t forEachFrom(uint32_t first, uint32_t most, Fn&& fn) {
    return connections_.forEachFrom(first, most, std::forward<Fn>(fn));
  }
  size_t size() const noexcept { return connections_.size(); }

  // Frees what has lain spare since the last call: for a timer of about a second.
  void giveBack() noexcept;
  // Bytes among those that its connections lie in that the next connections will take.
  size_t reusableBytes() const noexcept { return connections_.reusableBytes(); }

  // How many of the sockets it adopted this loop has been done with; any thread.
  uint64_t closedCount() const noexcept { return closed_.load(std::memory_order_relaxed); }

  event::Loop& loop() const noexcept { return loop_; }
  ChunkPool& chunks() noexcept { return chunks_; }

  // Memory for small sessions of which there may be one per connection, kCellBytes each. What is given back
  // is freed after the current batch: the session may be further up the stack.
  static constexpr size_t kCellBytes = 48;
  void* takeCell() { return ::operator new(kCellBytes); }
  void giveCell(void* cell) { retired_cells_.push_back(cell); }

 private:
  friend class Connection;
  class LingerSession final : public Session {
   public:
    void onRead(Connection& connection, Chunk& in) noexcept override;
    void onReadEnd(Connection& connection) noexcept override;
  };

  static void onExpired(event::WheelNode& node) noexcept;
  struct Name {
    uint32_t slot;
    uint32_t generation;
  };
  void onTimer() noexcept override;  // the wheel's tick
  // After each batch: offers input to those who asked for that, empties the slots of what was closed in it.
  void run() noexcept override;
  void offerSoon(const Connection& connection) noexcept;
  void countIn(const Connection& connection, size_t bytes) noexcept {
    if (counters_ != nullptr && connection.has(Connection::kAccepted)) counters_->bytes_in.add(bytes);
  }
  void countOut(const Connection& connection, size_t bytes) noexcept {
    if (counters_ != nullptr && connection.has(Connection::kAccepted)) counters_->bytes_out.add(bytes);
  }
  // What a connection has sent in its turn; a turn ends with the batch, or when another one sends.
  size_t& turnBytes(const Connection& connection) noexcept {
    if (turn_of_ != &connection) {
      turn_of_ = &connection;
      turn_bytes_ = 0;
    }
    return turn_bytes_;
  }
  void grew(size_t bytes) noexcept { grown_bytes_ += bytes; }
  uint32_t clockTick() const noexcept;
  void setDeadline(Connection& connection, uint32_t ms) noexcept;
  void retire(Connection& connection) noexcept;
  void leaveAddress(uint32_t slot) noexcept;
  void refuseForMemory(const AcceptedSocket& socket) noexcept;
  void countClosed(bool was_opened) noexcept;
  void shrinkAddressHashes() noexcept;
  Connection* open(int fd, const PeerAddr& peer, uint16_t listener) noexcept;  // nullptr: memory is out
  Status bindLocal(int fd, const SocketAddress& local) noexcept;

  event::Loop& loop_;
  ChunkPool chunks_;
  OutPool out_pool_;
  PlainTransport plain_;
  Slab<Connection> connections_;
  event::IdleWheel wheel_;
  int64_t start_ns_;
  uint32_t linger_ms_ = 5000;
  Chunk* scratch_;  // every read that has nothing to join goes here
  LingerSession linger_;
  std::vector<SessionFactory*> factories_;
  std::vector<uint32_t> retired_;
  std::vector<void*> retired_cells_;
  std::vector<Name> offers_;     // connections whose input is to be offered at the batch's end
  std::vector<Name> under_way_;  // those of this batch, while that happens
  const Connection* turn_of_ = nullptr;
  size_t turn_bytes_ = 0;
  size_t grown_bytes_ = 0;  // since growth_listener_ was told
  size_t growth_step_ = 0;
  GrowthListener* growth_listener_ = nullptr;
  Evictor* evictor_ = nullptr;
  std::atomic<uint64_t> closed_{0};
  const IoCounters* counters_ = nullptr;
  AddressLimit* address_limit_ = nullptr;
  std::vector<uint64_t> address_hashes_;  // by slot, where there is a limit
};

}  // namespace roost::net
