// The last words of a process that dies by a fault.
#pragma once

#include <cstddef>
#include <memory>

namespace roost::log::detail {

// From here on SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL first have the log written (for at most three
// seconds), add a line that names the signal, and then take their course as if there had been no handler. The
// handler itself only uses atomics, futex, nanosleep and write; the formatting is done by the log thread,
// unless that is the one that crashed: then the lines it has finished are written and what is still in the
// rings is lost.
void installCrashHandler() noexcept;
void removeCrashHandler() noexcept;  // puts the former handlers back

// A stack of its own for the handler, so that a thread's stack overflow can be reported. One per thread that
// logs; left alone where the thread has one already.
class AltStack {
 public:
  void arm() noexcept;
  void disarm() noexcept;  // before destruction, on the same thread

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace roost::log::detail
