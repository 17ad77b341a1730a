// What `--check-system` prints.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/grouped.h"
#include "server/system_check.h"

namespace roost::server {
namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kPlain = "\x1b[0m";

std::string bytesText(uint64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.0f} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

std::string amount(const SystemNeed& need, uint64_t number) {
  if (number == std::numeric_limits<uint64_t>::max()) return "no limit";
  return need.is_bytes ? bytesText(number) : grouped(number);
}

std::string countText(uint64_t clients) {
  if (clients >= 1'000'000 && clients % 100'000 == 0)
    return fmt::format("{:g} M", static_cast<double>(clients) / 1e6);
  if (clients >= 1000 && clients % 100 == 0) return fmt::format("{:g} k", static_cast<double>(clients) / 1e3);
  return grouped(clients);
}

class Writer {
 public:
  explicit Writer(bool color) noexcept : color_(color) {}
  const char* bold() const noexcept { return color_ ? kBold : ""; }
  const char* red() const noexcept { return color_ ? kRed : ""; }
  const char* green() const noexcept { return color_ ? kGreen : ""; }
  const char* plain() const noexcept { return color_ ? kPlain : ""; }

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void add(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  const bool color_;
  std::string text_;
};

constexpr int kSettingWidth = 30;
constexpr int kCellWidth = 12;

void writeTable(const SystemReport& report, Writer& out) {
  out.add(fmt::format("{}{:<{}} {:>{}}", out.bold(), "setting", kSettingWidth, "here", kCellWidth));
  for (const uint64_t clients : report.counts)
    out.add(fmt::format(" {:>{}}", countText(clients), kCellWidth));
  out.line("{}", out.plain());
  for (const SystemNeed& need : report.needs) {
    out.add(fmt::format("{:<{}} {:>{}}", need.setting, kSettingWidth,
                        need.here ? amount(need, *need.here) : "unknown", kCellWidth));
    for (size_t i = 0; i < report.counts.size(); ++i) {
      const bool is_short = need.isShort(i);
      const std::string cell = is_short || !need.here ? amount(need, need.needed[i]) : "ok";
      out.add(fmt::format(" {}{:>{}}{}", is_short ? out.red() : out.green(), cell, kCellWidth, out.plain()));
    }
    out.line("  {}", need.meaning);
  }
  if (report.source_addresses.empty()) return;
  out.add(fmt::format("{:<{}} {:>{}}", "source addresses", kSettingWidth, "", kCellWidth));
  for (const uint64_t addresses : report.source_addresses)
    out.add(fmt::format(" {:>{}}", grouped(addresses), kCellWidth));
  out.line(
      "  of a machine that plays all the clients, {} connections each to one address and port of the server",
      grouped(report.connections_per_source));
}

// The three numbers of tcp_mem keep the kernel's own proportions, 3/4, 1, 3/2, as far as there is memory.
std::string remedyFor(const SystemFacts& facts, const SystemNeed& need, uint64_t number) {
  if (need.setting.compare(0, 16, "net.ipv4.tcp_mem") == 0) {
    const uint64_t all = facts.memory_bytes ? *facts.memory_bytes / facts.page_bytes : number / 2 * 3;
    const uint64_t pressure = std::min(number, all);
    return fmt::format(fmt::runtime(need.remedy), pressure / 4 * 3, pressure, std::min(number / 2 * 3, all));
  }
  return fmt::format(fmt::runtime(need.remedy), number);
}

void writeRemedies(const SystemFacts& facts, const SystemReport& report, size_t index, Writer& out) {
  if (!report.isShort(index)) {
    out.line("\n{}Nothing is short for {} clients.{}", out.bold(), countText(report.counts[index]),
             out.plain());
    return;
  }
  const auto write = [&](bool sysctl) {
    for (const SystemNeed& need : report.needs) {
      const bool is_sysctl = need.remedy.find(" = {") != std::string::npos;
      if (need.isShort(index) && is_sysctl == sysctl)
        out.line("    {}", remedyFor(facts, need, need.needed[index]));
    }
  };
  const auto any = [&](bool sysctl) {
    return std::any_of(report.needs.begin(), report.needs.end(), [&](const SystemNeed& need) {
      return need.isShort(index) && (need.remedy.find(" = {") != std::string::npos) == sysctl;
    });
  };
  out.line("\n{}What is short for {} clients{}", out.bold(), countText(report.counts[index]), out.plain());
  if (any(true)) {
    out.line("  in /etc/sysctl.d/90-roost.conf, then `sysctl --system`:");
    write(true);
  }
  if (any(false)) {
    out.line("  besides:");
    write(false);
  }
}

}  // namespace

std::string formatReport(const SystemFacts& facts, const SystemReport& report, size_t remedied, bool color) {
  Writer out(color);
  out.line("{}What this machine allows{} (Linux {}, {} processors, {})\n", out.bold(), out.plain(),
           facts.kernel_release, facts.processors,
           facts.memory_bytes ? bytesText(*facts.memory_bytes) + " of memory" : "memory unknown");
  writeTable(report, out);
  writeRemedies(facts, report, remedied, out);
  if (!report.advice.empty()) out.line("\n{}Besides{}", out.bold(), out.plain());
  for (const SystemAdvice& advice : report.advice)
    out.line("  {}{}{} {}", advice.is_warning ? out.red() : "", advice.is_warning ? "!" : "-",
             advice.is_warning ? out.plain() : "", advice.text);
  out.line("\nThe reasons, and what guides say that is gone or harmful: docs/tuning.md");
  return out.take();
}

bool printSystemCheck(uint64_t clients, const CheckedConfig& config) {
  const SystemFacts facts = readSystemFacts();
  std::vector<uint64_t> counts(kClientCounts.begin(), kClientCounts.end());
  size_t remedied = 2;  // a million
  if (clients > 0) {
    counts = {clients};
    remedied = 0;
  }
  const SystemReport report = checkSystem(facts, std::move(counts), config);
  const bool color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  fmt::print("{}", formatReport(facts, report, remedied, color));
  std::fflush(stdout);
  return clients == 0 || !report.isShort(0);
}

}  // namespace roost::server
