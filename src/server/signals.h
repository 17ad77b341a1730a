#pragma once

#include <csignal>

#include "base/status.h"
#include "base/unique_fd.h"
#include "event/loop.h"

namespace roost::server {

// Keeps the calling thread from signals while it lives; threads made meanwhile never see one. Faults stay as
// they are.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept;
  ~AllSignalsBlocked();
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Who is told of signals, on the main loop's thread.
class SignalListener {
 public:
  virtual void onSignal(int number) noexcept = 0;

 protected:
  ~SignalListener() = default;
};

// SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1 and SIGUSR2 as events of the main loop, by signalfd. SIGPIPE is
// ignored: a write tells the same. Belongs to the main thread; made by block() before any other thread, so
// that all of them inherit the mask.
class Signals final : public event::IoHandler {
 public:
  Signals() noexcept = default;
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // From here on these signals wait to be read.
  static void block() noexcept;
  // From here on SIGTERM, SIGINT and SIGQUIT end the process at once, with exit code 1: nobody reads them any
  // more.
  static void endAtOnce() noexcept;

  // Reads them on `loop`; both outlive this.
  Status open(event::Loop& loop, SignalListener& listener);
  void onIo(uint32_t events) noexcept override;

 private:
  event::Loop* loop_ = nullptr;
  SignalListener* listener_ = nullptr;
  UniqueFd fd_;
};

}  // namespace roost::server
