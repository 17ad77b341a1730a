#include "server/signals.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace roost::server {
namespace {

sigset_t handledSignals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&set, number);
  return set;
}

void exitNow(int) {
  ::_exit(1);
}

}  // namespace

AllSignalsBlocked::AllSignalsBlocked() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

AllSignalsBlocked::~AllSignalsBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Signals::~Signals() {
  if (fd_) loop_->remove(fd_.get());
}

void Signals::block() noexcept {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = handledSignals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void Signals::endAtOnce() noexcept {
  sigset_t set;
  sigemptyset(&set);
  struct sigaction action {};
  action.sa_handler = exitNow;
  for (const int number : {SIGTERM, SIGINT, SIGQUIT}) {
    ::sigaction(number, &action, nullptr);
    sigaddset(&set, number);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Status Signals::open(event::Loop& loop, SignalListener& listener) {
  const sigset_t set = handledSignals();
  fd_.reset(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd_) return Status::fromErrno(errno, "signalfd");
  loop_ = &loop;
  listener_ = &listener;
  return loop.add(fd_.get(), EPOLLIN, *this);
}

void Signals::onIo(uint32_t) noexcept {
  signalfd_siginfo info;
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    listener_->onSignal(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace roost::server
