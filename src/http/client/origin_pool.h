// The connections to one origin, and the calls that wait for one. Internal to http/client.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/list.h"
#include "http/client/url.h"

namespace roost::http::client {

class ClientConnection;

// Owned by its Client, until nobody asks for the origin any more.
class OriginPool {
 public:
  explicit OriginPool(Origin where);
  ~OriginPool();
  OriginPool(const OriginPool&) = delete;
  OriginPool& operator=(const OriginPool&) = delete;

  bool unused() const noexcept { return connections.empty() && !waiting.linked(); }

  // A link that knows what it is a part of.
  struct Link : ListHook {
    explicit Link(OriginPool& pool) noexcept : owner(pool) {}
    OriginPool& owner;
  };

  const Origin origin;
  std::vector<std::unique_ptr<ClientConnection>> connections;  // each knows its index
  ListHook idle;                                               // of them, the longest idle first
  ListHook waiting;                                            // calls, in the order they came
  size_t idle_count = 0;
  size_t connecting_count = 0;
  size_t waiting_count = 0;
  Link starved{*this};  // in the client's list of those who wait for somebody else's connection to end
  Link to_pump{*this};  // in its list of those to look after
};

}  // namespace roost::http::client
