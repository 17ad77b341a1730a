#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "redis/link.h"

namespace roost::redis {

// Hears what a Subscriber receives. Loop thread; never throws; may subscribe and unsubscribe from within.
class SubscriptionListener {
 public:
  // Whatever is published from now on will be heard. Called again after the connection was lost, when it
  // stands again: what was published in between is missing.
  virtual void onSubscribed(std::string_view channel, bool is_pattern) noexcept = 0;
  // `pattern` is empty where the channel was subscribed to by its name. The views end with the call.
  virtual void onMessage(std::string_view channel, std::string_view pattern,
                         std::string_view payload) noexcept = 0;
  // Nothing is heard until onSubscribed is called again. Also after every attempt that failed.
  virtual void onLost(const RedisFailure& failure) noexcept = 0;

 protected:
  ~SubscriptionListener() = default;
};

// Subscribes to channels and patterns of a Redis server over a connection of its own, and again whenever that
// had to be made anew. One per loop, on its thread; destroyed before its IoContext and its resolver. The
// listener outlives it.
//
// A connection on which nothing was heard for ping_interval_ms is asked for a sign of life.
class Subscriber final : private LinkOwner {
 public:
  Subscriber(net::IoContext& io, net::Resolver& resolver, const RedisOptions& options,
             SubscriptionListener& listener);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  // What is subscribed to already stays so.
  void subscribe(std::string_view channel) { add(channel, false); }
  void psubscribe(std::string_view pattern) { add(pattern, true); }
  void unsubscribe(std::string_view channel) { drop(channel, false); }
  void punsubscribe(std::string_view pattern) { drop(pattern, true); }

  bool connected() const noexcept { return link_.up(); }
  size_t size() const noexcept { return channels_.size() + patterns_.size(); }

 private:
  using Names = std::map<std::string, bool, std::less<>>;  // whether the server has said yes

  void add(std::string_view name, bool is_pattern);
  void drop(std::string_view name, bool is_pattern);
  void say(std::string_view word, std::string_view name);
  void confirm(Names& names, std::string_view name, bool is_pattern) noexcept;
  void onUp() noexcept override;
  void onReply(std::unique_ptr<Reply> reply) noexcept override;
  void onDown(const RedisFailure& failure) noexcept override;
  void onDeadline() noexcept override;

  const RedisOptions options_;
  SubscriptionListener& listener_;
  Names channels_;
  Names patterns_;
  bool pinged_ = false;
  Link link_;
};

}  // namespace roost::redis
