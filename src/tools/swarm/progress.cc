#include "tools/swarm/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/grouped.h"
#include "tools/swarm/text.h"

namespace roost::swarm {
namespace {

constexpr double kRedrawS = 0.2;
constexpr double kLineS = 2;  // and rarer as a run goes on
constexpr size_t kBarCells = 20;

size_t terminalColumns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Eighths of a cell make the bar move smoothly.
std::string bar(double part) {
  constexpr const char* kEighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(part * kBarCells * 8);
  std::string text;
  for (size_t cell = 0; cell < kBarCells; ++cell) {
    text += eighths >= (cell + 1) * 8 ? "█" : eighths > cell * 8 ? kEighths[eighths % 8] : " ";
  }
  return text;
}

size_t shownWidth(const std::string& text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return width;
}

}  // namespace

Progress Progress::forStandardError(const Scenario& scenario, bool quiet) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool terminal = ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string(term) != "dumb";
  const bool colour = terminal && (no_color == nullptr || *no_color == '\0');
  return {scenario, quiet ? Style::kNone : terminal ? Style::kTerminal : Style::kPlain, colour};
}

std::string Progress::line(const Sample& sample, size_t columns) const {
  const bool counts_messages = scenario_.listens();
  std::string clients = grouped(sample.open);
  if (sample.open != scenario_.clients) clients += " of " + grouped(scenario_.clients);
  std::vector<std::string> parts;
  parts.push_back(fmt::format("{} clients", clients));
  if (scenario_.asksAtOnce()) parts.push_back(fmt::format("{} held", grouped(sample.waiting)));
  parts.push_back(
      fmt::format("{}{}/s", grouped(static_cast<uint64_t>(sample.rate)), counts_messages ? " messages" : ""));
  if (sample.p99_ns > 0 && !scenario_.asksAtOnce()) parts.push_back("p99 " + withUnit(sample.p99_ns));
  std::string errors = fmt::format("{} errors", grouped(sample.errors));
  if (colour_ && sample.errors > 0) errors = "\x1b[31m" + errors + "\x1b[0m";
  parts.push_back(errors);
  if (sample.phase != Phase::kDraining) parts.push_back(clockText(sample.remaining_s) + " left");

  std::string text;
  if (columns > 0) {
    const std::string cells = bar(sample.part);
    text = colour_ ? "\x1b[36m" + cells + "\x1b[0m▏" : cells + "▏";
    text += fmt::format("{:<10}", phaseName(sample.phase));
  } else {
    text = fmt::format("{:7.1f} s  {:<10}", sample.at_s, phaseName(sample.phase));
  }
  size_t width = columns > 0 ? kBarCells + 11 : 0;
  for (const std::string& part : parts) {
    width += 2 + shownWidth(part);
    if (columns > 0 && width >= columns) break;
    text += "  " + part;
  }
  return text;
}

void Progress::show(const Sample& sample) {
  if (style_ == Style::kNone) return;
  if (sample.at_s < next_s_ && (style_ == Style::kTerminal || sample.phase == phase_)) return;
  phase_ = sample.phase;
  next_s_ = sample.at_s + (style_ == Style::kTerminal ? kRedrawS : std::max(kLineS, sample.at_s / 10));
  if (style_ == Style::kTerminal) {
    std::fprintf(stderr, "\r%s\x1b[K", line(sample, terminalColumns()).c_str());
  } else {
    std::fprintf(stderr, "%s\n", line(sample, 0).c_str());
  }
  std::fflush(stderr);
}

void Progress::end() {
  if (style_ == Style::kTerminal) std::fprintf(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace roost::swarm
