#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/system_facts.h"

namespace roost::server {

// How many clients `--check-system` looks at.
constexpr std::array<uint64_t, 4> kClientCounts{10'000, 100'000, 1'000'000, 2'000'000};

// One setting, what it is here, and what it takes to hold so many clients.
struct SystemNeed {
  std::string setting;  // as sysctl or systemd calls it
  std::string meaning;  // of the number, a few words
  bool is_bytes = false;
  std::optional<uint64_t> here;  // nothing: unknown; the need is told all the same
  std::vector<uint64_t> needed;  // one per count
  std::string remedy;            // a line of a file or a command, "{}" being the number

  bool isShort(size_t index) const noexcept { return here && *here < needed[index]; }
};

// Something to know or to undo, whatever the number of clients.
struct SystemAdvice {
  bool is_warning = false;
  std::string text;
};

struct SystemReport {
  std::vector<uint64_t> counts;
  std::vector<SystemNeed> needs;
  std::vector<SystemAdvice> advice;
  // Source addresses that one machine needs to open so many connections to one address and port.
  std::vector<uint64_t> source_addresses;

  bool isShort(size_t index) const noexcept;  // of anything, for counts[index]
};

// Pure: the same facts make the same report. docs/tuning.md gives the reasons for the numbers.
// `fd_tables`: among how many tables of descriptors the clients are dealt out; 1, or the IO threads of a
// configuration that gives each its own.
SystemReport checkSystem(const SystemFacts& facts, std::vector<uint64_t> counts, uint64_t fd_tables = 1);

// A table, what to do for counts[remedied], and advice: lines for people. `color`: with ANSI colors.
std::string formatReport(const SystemFacts& facts, const SystemReport& report, size_t remedied, bool color);

// `--check-system[=clients]`: looks at this machine and writes to standard output; clients 0: kClientCounts.
// False where something is short for the `clients` that were named.
bool printSystemCheck(uint64_t clients, uint64_t fd_tables);

}  // namespace roost::server
