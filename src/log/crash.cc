#include "log/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <ctime>
#include <new>

#include "base/fd_table.h"
#include "log/line_formatter.h"
#include "log/logger.h"

namespace roost::log::detail {
namespace {

constexpr std::array<int, 5> kSignals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
constexpr int64_t kWaitNs = 3'000'000'000;
constexpr size_t kAltStackBytes = 64 * 1024;  // AVX-512 state alone takes some 3 KiB of it

std::array<struct sigaction, kSignals.size()> g_former;
bool g_installed = false;
std::atomic<int64_t> g_crashing_thread{0};

const char* signalName(int signal_number) noexcept {
  const char* name = ::sigabbrev_np(signal_number);
  return name != nullptr ? name : "?";
}

// Writes to the log's file. Where this thread has a table of descriptors of its own, the number means nothing
// here (or a client's socket): the file is opened by way of the main thread's table.
void writeToLog(int fd, std::string_view line) noexcept {
  int own = -1;
  if (fdTable() != 0 && fd != STDERR_FILENO) {
    char path[64];
    *fmt::format_to(path, FMT_COMPILE("/proc/{}/fd/{}"), ::getpid(), fd) = '\0';
    fd = own = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
  }
  if (fd >= 0 && ::write(fd, line.data(), line.size()) < 0) fd = -1;
  if (own >= 0) ::close(own);
}

void writeLastLine(int signal_number, const siginfo_t* info) noexcept {
  try {
    Logger& logger = Logger::instance();
    LineFormatter formatter(logger.format());
    LineBuffer line;  // its first 500 bytes are on the stack: no allocation
    char prefix[64];
    const auto tid = ::syscall(SYS_gettid);
    char* end = logger.format() == Format::kJson
                    ? fmt::format_to(prefix, FMT_COMPILE("\"thread\":\"crash\",\"tid\":{},\"msg\":\""), tid)
                    : fmt::format_to(prefix, FMT_COMPILE("[crash/{}] "), tid);
    formatter.appendHead(line, systemRealtimeNs(), Level::kError,
                         {prefix, static_cast<size_t>(end - prefix)});
    fmt::format_to(fmt::appender(line), FMT_COMPILE("crashed by SIG{} (code {}, address {})"),
                   signalName(signal_number), info->si_code, static_cast<const void*>(info->si_addr));
    formatter.appendTail(line, 0, "crash");
    writeToLog(logger.fd(), {line.data(), line.size()});
    if (logger.fd() != STDERR_FILENO && ::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
  } catch (...) {  // there is nobody left to tell
  }
}

void restoreFormerHandlers() noexcept {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &g_former[i], nullptr);
}

void onCrash(int signal_number, siginfo_t* info, void*) noexcept {
  const int64_t self = ::syscall(SYS_gettid);
  int64_t nobody = 0;
  if (g_crashing_thread.compare_exchange_strong(nobody, self)) {
    Logger::instance().flushForCrash(kWaitNs);
    writeLastLine(signal_number, info);
  } else if (nobody != self) {
    for (;;) ::pause();  // another thread is at it already and will end the process
  }
  // All of them: the handler that comes next may end the process by another of these signals.
  restoreFormerHandlers();
  ::raise(signal_number);  // taken when this handler returns
}

}  // namespace

void installCrashHandler() noexcept {
  if (g_installed) return;
  g_installed = true;
  struct sigaction action {};
  action.sa_sigaction = &onCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &g_former[i]);
}

void removeCrashHandler() noexcept {
  if (!g_installed) return;
  g_installed = false;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction current {};
    ::sigaction(kSignals[i], nullptr, &current);
    if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &onCrash) {
      ::sigaction(kSignals[i], &g_former[i], nullptr);
    }
  }
}

void AltStack::arm() noexcept {
  stack_t current{};
  if (memory_ || ::sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
  memory_.reset(new (std::nothrow) char[kAltStackBytes]);
  if (!memory_) return;
  stack_t stack{};
  stack.ss_sp = memory_.get();
  stack.ss_size = kAltStackBytes;
  ::sigaltstack(&stack, nullptr);
}

void AltStack::disarm() noexcept {
  if (!memory_) return;
  stack_t current{};
  if (::sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory_.get()) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  memory_.reset();
}

void Logger::flushForCrash(int64_t wait_ns) noexcept {
  const int64_t log_thread = thread_id_.load();
  if (log_thread == 0) return;  // no background log: every line is written already
  if (log_thread == ::syscall(SYS_gettid)) {
    const LineBuffer& lines = own_.sink.buffer();
    const void* last = ::memrchr(lines.data(), '\n', lines.size());
    if (last == nullptr) return;
    const auto bytes = static_cast<size_t>(static_cast<const char*>(last) + 1 - lines.data());
    [[maybe_unused]] const ssize_t n = ::write(fd(), lines.data(), bytes);
    return;
  }
  const uint32_t ticket = flush_wanted_.fetch_add(1, std::memory_order_seq_cst) + 1;
  wakeLogThread();
  constexpr int64_t kStepNs = 1'000'000;
  const timespec step{0, kStepNs};
  for (int64_t waited = 0; waited < wait_ns; waited += kStepNs) {
    if (static_cast<int32_t>(flush_done_.load(std::memory_order_acquire) - ticket) >= 0) return;
    ::nanosleep(&step, nullptr);
  }
}

}  // namespace roost::log::detail
