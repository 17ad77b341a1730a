#include "log/log.h"

#include <unistd.h>

namespace roost::log {
namespace detail {

Front g_front;
Sleep g_sleep;
thread_local ThreadBuffer* t_buffer = nullptr;

ThreadBuffer* makeBuffer() noexcept { return nullptr; }
void wakeLogThread() noexcept {}
bool ThreadBuffer::makeRoom(size_t) noexcept { return false; }

void submitReady(const Site& site, uint32_t, std::string_view text) noexcept {
  static constexpr std::string_view kNames[] = {"DEBUG", "INFO ", "WARN ", "ERROR"};
  LineBuffer line;
  fmt::format_to(fmt::appender(line), "{} {} ({})\n", kNames[static_cast<size_t>(site.level)], text, site.source);
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}
void submitFailure(const Site& site, const char* reason) noexcept { submitReady(site, 0, reason); }

}  // namespace detail
void setLevel(Level level) noexcept { detail::g_front.level.store(static_cast<uint8_t>(level), std::memory_order_relaxed); }
}  // namespace roost::log
