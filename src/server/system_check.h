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
  // Source addresses that one machine needs to open so many connections to one address and port, and how many
  // connections each of them opens at full speed.
  std::vector<uint64_t> source_addresses;
  uint64_t connections_per_source = 0;

  bool isShort(size_t index) const noexcept;  // of anything, for counts[index]
};

// What a configuration says that the check depends on; without one, the defaults.
struct CheckedConfig {
  uint64_t fd_tables = 1;  // among how many tables of descriptors the clients are dealt out
  // The listening sockets of one address share what waits to be accepted: 1, or the IO threads with `accept`
  // "reuseport".
  uint64_t accept_queues = 1;
  // The smallest `backlog` of the listeners; nothing: no file was named.
  std::optional<uint64_t> backlog;
};

// Pure: the same facts make the same report. docs/tuning.md gives the reasons for the numbers.
SystemReport checkSystem(const SystemFacts& facts, std::vector<uint64_t> counts,
                         const CheckedConfig& config = {});

// A table, what to do for counts[remedied], and advice: lines for people. `color`: with ANSI colors.
std::string formatReport(const SystemFacts& facts, const SystemReport& report, size_t remedied, bool color);

// `--check-system[=clients]`: looks at this machine and writes to standard output; clients 0: kClientCounts.
// False where something is short for the `clients` that were named.
bool printSystemCheck(uint64_t clients, const CheckedConfig& config);

}  // namespace roost::server
