#pragma once

#include <cstdint>

#include "metrics/counter.h"
#include "net/cidr_map.h"
#include "net/connection.h"
#include "net/session.h"

namespace roost::net {

// What stands in front of a listener's own protocol where proxies announce their clients (PROXY protocol): it
// reads the header, gives the connection the client's address and hands it on, with the bytes that follow.
// One object for all connections of a loop and a listener, since what has come so far stays with the
// connection. Owned by the server beside its loop; loop thread.
class ProxySession final : public SessionFactory, private Session {
 public:
  struct Options {
    uint32_t timeout_ms = 20'000;         // for the whole header
    const CidrSet* trusted = nullptr;     // who may announce; nullptr or empty: everybody. Outlives this.
    const CidrSet* blocked = nullptr;     // announced addresses that are closed at once. Outlives this.
    metrics::Counter* refused = nullptr;  // counts those
  };

  // `next` gets the connections whose header has been read.
  ProxySession(SessionFactory& next, const Options& options) noexcept : next_(next), options_(options) {}

  Session& sessionFor(Connection&) noexcept override { return *this; }

 private:
  void onConnected(Connection& connection) noexcept override;
  void onRead(Connection& connection, Chunk& in) noexcept override;
  void onReadEnd(Connection& connection) noexcept override;
  void onTimeout(Connection& connection) noexcept override;

  SessionFactory& next_;
  const Options options_;
};

}  // namespace roost::net
