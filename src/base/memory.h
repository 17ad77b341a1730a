// What happens when the system gives no more memory: under RLIMIT_AS, or where the kernel does not
// overcommit.
//
// Requests for memory are of two kinds. What a peer sizes (bodies, messages, what is made of them) is asked
// for by allocateForPeer(), or within forPeer() and forAnswer(): where there is none it fails at once, and
// that peer alone is refused. All else is small and must succeed, answers to those who are refused among it:
// when operator new or allocate() fails, a part of a reserve goes back to the system, and they try again.
// While any part is gone, peers' requests fail at once and the server takes on nothing new (net::LoadGate);
// refillReserve() makes it whole again.
//
// Any thread, but for what says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace roost::memory {

constexpr size_t kReserveBytes = 8 << 20;  // of addresses: no page of it is ever touched

namespace detail {
extern std::atomic<bool> g_reserve_in_use;
extern thread_local bool t_for_peer;
}  // namespace detail

// Takes the reserve and lets operator new fall back on it. Main thread, once, before others start. Where
// there is no room even now, there is no reserve.
void openReserve() noexcept;
inline bool reserveInUse() noexcept {
  return detail::g_reserve_in_use.load(std::memory_order_relaxed);
}
// Takes back what is gone, if there is as much again besides. One thread.
void refillReserve() noexcept;

// As malloc. nullptr once the reserve is gone, too.
void* allocate(size_t bytes) noexcept;
// As malloc; never of the reserve.
void* allocateForPeer(size_t bytes) noexcept;

// Calls fn(), in which strings and the like grow as the answer to a peer has it. False: memory was out, and
// what fn() has left behind is its own. REQUIRES: nothing noexcept in it allocates.
template <class Fn>
bool forAnswer(Fn&& fn) noexcept {
  struct Scope {
    const bool before = detail::t_for_peer;
    Scope() noexcept { detail::t_for_peer = true; }
    ~Scope() { detail::t_for_peer = before; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
  try {
    const Scope scope;
    fn();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// The same for what a peer sends or begins: not even tried while the reserve is in use.
template <class Fn>
bool forPeer(Fn&& fn) noexcept {
  return !reserveInUse() && forAnswer(fn);
}

// Where both kinds of allocate() get theirs, std::malloc at first; a test may make it fail. Returns the one
// before.
using Source = void* (*)(size_t);
Source setSource(Source source) noexcept;

}  // namespace roost::memory
