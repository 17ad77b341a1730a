#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "event/loop.h"
#include "net/address_limit.h"
#include "net/cidr_map.h"
#include "net/counters.h"
#include "net/evictor.h"
#include "net/fd_handoff.h"
#include "net/io_context.h"
#include "net/listener.h"
#include "net/load_gate.h"

namespace roost::net {

// Where accepted sockets go. Used on the accepting loop's thread.
class ConnectionSink {
 public:
  virtual bool accepts() noexcept = 0;  // false: nobody has room now
  // Why not, for the log: "every IO thread is at worker_connections". REQUIRES: accepts() has just said
  // false.
  virtual const char* obstacle() noexcept = 0;
  virtual void give(const AcceptedSocket& socket) noexcept = 0;  // REQUIRES: accepts() has just said true
  // Nobody has room, or descriptors are gone: closes idle connections, the oldest first, or asks for that.
  enum class Room : uint8_t {
    kNone,  // nobody has an idle connection, as far as is known
    kSoon,  // in a moment, perhaps
    kMade   // descriptors at once, places at the end of this batch
  };
  enum class Lack : uint8_t { kPlaces, kDescriptors };
  virtual Room makeRoom(Lack) noexcept { return Room::kNone; }
  virtual void endOfBatch() noexcept {}

 protected:
  ~ConnectionSink() = default;
};

// Hands sockets to IO loops in turn, passing over those that are full.
class RoundRobinSink final : public ConnectionSink {
 public:
  explicit RoundRobinSink(std::vector<FdHandoff*> targets) noexcept : targets_(std::move(targets)) {}
  bool accepts() noexcept override;
  const char* obstacle() noexcept override;
  void give(const AcceptedSocket& socket) noexcept override;
  Room makeRoom(Lack lack) noexcept override;
  void endOfBatch() noexcept override;
  // Those of its loops; without them nobody makes room.
  void setEvictors(std::vector<Evictor*> evictors) { room_.setEvictors(std::move(evictors)); }

 private:
  std::vector<FdHandoff*> targets_;
  size_t next_ = 0;
  RoomSeeker room_;
};

// Keeps sockets on the accepting loop itself ("accept": "reuseport").
class LocalSink final : public ConnectionSink {
 public:
  LocalSink(IoContext& context, uint64_t limit) noexcept : context_(context), limit_(limit) {}
  // nullptr, as at first: however busy the loop is.
  void setGate(const LoadGate* gate) noexcept { gate_ = gate; }
  bool accepts() noexcept override { return !overloaded() && context_.size() < limit_; }
  const char* obstacle() noexcept override {
    return overloaded() ? "this IO thread is overloaded" : "this IO thread is at worker_connections";
  }
  void give(const AcceptedSocket& socket) noexcept override {
    room_.found();
    context_.adopt(socket);
  }
  Room makeRoom(Lack lack) noexcept override;
  // Those of all loops that have their descriptors from the same table.
  void setEvictors(std::vector<Evictor*> evictors) { room_.setEvictors(std::move(evictors)); }

 private:
  bool overloaded() const noexcept { return gate_ != nullptr && !gate_->admitsConnections(); }

  IoContext& context_;
  const uint64_t limit_;
  const LoadGate* gate_ = nullptr;
  RoomSeeker room_;
};

// Accepts on one listening socket. When descriptors or memory run out, or all loops are full, it stops
// listening to the socket and comes back after a pause that doubles from 10 ms to 1 s; it never spins. But
// first idle connections have to make room, where there are any; only without them is anybody turned away. A
// few spare descriptors are held back and let go of then: with one a waiting client is accepted and closed,
// so that it learns at once instead of hanging, and the clients that are connected already have all of them
// for the files they ask for. Only once the spares can be had again are new clients taken.
//
// Belongs to the thread of `loop`; made and started before that loop runs.
class Acceptor final : public event::IoHandler, public event::Timer {
 public:
  struct Counts {
    uint64_t accepted = 0;
    uint64_t refused = 0;      // by address
    uint64_t over_limit = 0;   // by the number of connections of the address
    uint64_t turned_away = 0;  // accepted on a spare descriptor and closed
    uint64_t pauses = 0;
  };
  enum class Trigger : uint8_t { kEdge, kLevel };

  // `edge`: a thread that only accepts, which takes all that wait but lets signals and other listeners have
  // their turn; `level`: a few per round, so that the loop's connections have theirs.
  Acceptor(event::Loop& loop, Listener listener, uint16_t index, ConnectionSink& sink,
           Trigger trigger) noexcept;
  ~Acceptor();
  Status start();
  void stop() noexcept;  // no more connections; the socket closes with the object
  // Addresses that are refused right after accepting; `blocked` outlives this, nullptr is none.
  void setBlocked(const CidrSet* blocked) noexcept { blocked_ = blocked; }
  // Bounds the connections of an address; it outlives this, nullptr is no bound.
  void setAddressLimit(AddressLimit* limit) noexcept { address_limit_ = limit; }
  // Counts there too; it outlives this. Acceptors of one thread may share it.
  void setCounters(const AcceptCounters* counters) noexcept { counters_ = counters; }
  const Listener& listener() const noexcept { return listener_; }
  const Counts& counts() const noexcept { return counts_; }

  void onIo(uint32_t events) noexcept override;
  void onTimer() noexcept override;

 private:
  enum class Outcome : uint8_t { kTaken, kDrained, kRetry, kExhausted };
  Outcome acceptOne() noexcept;
  void take(int fd, const PeerAddr& peer) noexcept;
  void tellExhausted(int sys_errno) noexcept;
  bool findDescriptors(int sys_errno) noexcept;
  void turnAwayOne() noexcept;
  void goOn() noexcept;
  void pause() noexcept;
  bool hasRoom() noexcept;
  bool holdSpares() noexcept;
  void releaseSpares() noexcept;

  static constexpr int64_t kFirstPauseMs = 10;
  static constexpr int64_t kLongestPauseMs = 1000;
  static constexpr int kLevelBatch = 16;
  static constexpr int kEdgeBatch = 512;
  static constexpr int kWakeEvery = 32;

  event::Loop& loop_;
  Listener listener_;
  ConnectionSink& sink_;
  const CidrSet* blocked_ = nullptr;
  AddressLimit* address_limit_ = nullptr;
  Counts counts_;
  const AcceptCounters* counters_ = nullptr;
  int64_t pause_ms_ = kFirstPauseMs;
  std::array<int, 8> spares_;
  uint16_t index_;
  Trigger trigger_;
  bool listening_ = false;
};

}  // namespace roost::net
