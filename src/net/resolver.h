#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/list.h"
#include "base/status.h"
#include "event/loop.h"
#include "net/address.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace roost::net {

enum class ResolveError : uint8_t {
  kNone,
  kNoName,    // there is no such name, or it has no address
  kTimeout,   // no server answered
  kServer,    // servers refused, failed, or sent what cannot be read
  kBadName,   // it can be no host's name
  kOverload,  // too many names are being asked for
  kStopped,   // the resolver is being destroyed
};
const char* resolveErrorText(ResolveError error) noexcept;

// What a name stands for: at least one address where there is no error, in the order to try them, ports 0.
struct Resolution {
  ResolveError error = ResolveError::kNone;
  std::vector<PeerAddr> addresses;
};

// Waits for a name. Borrowed by the resolver from resolve() until onResolved or cancel().
class ResolveListener : private ListHook {
 public:
  // The last call; `resolution` is gone after it. Loop thread; anything may be asked or cancelled from
  // within.
  virtual void onResolved(const Resolution& resolution) noexcept = 0;
  bool waits() const noexcept { return linked(); }

 protected:
  ResolveListener() noexcept = default;
  ~ResolveListener() { unlink(); }

 private:
  friend class Resolver;
};

// Host names to addresses, by DNS, without ever blocking the loop: c-ares, its sockets and its timeouts on
// the loop, and a cache by the records' time to live. The files of the system (/etc/resolv.conf, /etc/hosts)
// are read when it is made, and not again. Several who ask for one name ask once. One per loop, used on its
// thread.
//
// (c-ares makes the system calls for its own sockets itself, and measures its timeouts by the kernel's clock.
// What is kept goes by the loop's.)
class Resolver final : private event::Timer {
 public:
  struct Options {
    std::string servers;                    // "192.0.2.1:53,[2001:db8::1]:53"; empty: the system's
    std::string hosts_path = "/etc/hosts";  // empty: none
    uint32_t timeout_ms = 2000;             // for a server's answer; the next try waits twice as long
    uint32_t tries = 2;                     // per server
    uint32_t min_ttl_s = 1;                 // what a record's time to live is raised to
    uint32_t max_ttl_s = 3600;              // and lowered to
    uint32_t no_name_ttl_s = 5;             // how long a name that does not exist is not asked for again
    uint32_t failure_ttl_s = 1;             // the same after kTimeout and kServer
    uint32_t max_names = 1024;              // kept; beyond it the one that expires first goes
    uint32_t max_queries = 256;             // names being asked for at a time; beyond it kOverload
  };

  struct Stats {
    uint64_t queries = 0;  // names asked for
    uint64_t hits = 0;     // answered by the cache
    uint64_t joined = 0;   // waited with somebody else
    uint64_t failures = 0;
  };

  // The loop need not run yet. An error says what is wrong with the options or the system's files.
  static Result<std::unique_ptr<Resolver>> create(event::Loop& loop, const Options& options);
  ~Resolver();  // whoever still waits hears kStopped
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Addresses as text ("192.0.2.1", "::1", "[::1]"), names of the hosts file, localhost, and what is kept:
  // the answer at once, valid until anything else is called here. nullptr: it has to be asked for.
  const Resolution* find(std::string_view name) noexcept;

  // Asks for `name` unless that is under way. The listener hears later, never from within this call.
  // REQUIRES: find() has just answered nullptr; !listener.waits().
  void resolve(std::string_view name, ResolveListener& listener);
  // The listener will hear nothing. Harmless where it does not wait.
  void cancel(ResolveListener& listener) noexcept { listener.unlink(); }

  const Stats& stats() const noexcept { return stats_; }

 private:
  struct Entry {
    Resolver* owner = nullptr;
    Resolution resolution;
    int64_t expires_ns = 0;
    ListHook waiters;
    bool asked = false;     // its answer is still to come
    bool answered = false;  // it has come, and the waiters have not been told
  };
  class Socket;
  using Channel = ares_channeldata*;

  Resolver(event::Loop& loop, const Options& options);
  Status open();
  void readHosts();
  void makeRoom() noexcept;
  static void onAnswer(void* entry, int status, int timeouts, ares_addrinfo* info);
  static void onSocketState(void* self, int fd, int readable, int writable);
  void take(Entry& entry, int status, const ares_addrinfo* info);
  void watch(int fd, bool readable, bool writable) noexcept;
  void process(int readable_fd, int writable_fd) noexcept;
  void tell() noexcept;
  void tell(Entry& entry) noexcept;
  void armTimer() noexcept;
  void onTimer() noexcept override;

  event::Loop& loop_;
  const Options options_;
  Channel channel_ = nullptr;
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, Resolution, std::less<>> hosts_;
  std::map<int, std::unique_ptr<Socket>> sockets_;
  Resolution literal_;  // what find() answers for an address
  std::vector<Entry*> answered_;
  uint32_t asked_ = 0;
  bool stopping_ = false;
  Stats stats_;
};

}  // namespace roost::net
