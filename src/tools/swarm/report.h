#pragma once

#include <string>
#include <vector>

#include "tools/swarm/run.h"

namespace roost::swarm {

// What is worked out of an outcome, for both forms of the report. Bytes and microseconds; NaN: not known.
struct Costs {
  double server_cpu_us, server_cpu_busy;  // per request; of one processor
  double own_cpu_us, own_cpu_busy;
  double server_bytes, own_bytes;              // of memory of its own, per client held
  double kernel_slab_bytes, kernel_tcp_bytes;  // per client held, both ends where they are on this machine
};
Costs costsOf(const Plan& plan, const Outcome& outcome);

// What is wrong with a run beside the errors that were counted, a phrase each; none where all is right.
std::vector<std::string> shortcomings(const Plan& plan, const Outcome& outcome);

// For people. Several lines, each ended.
std::string textReport(const Plan& plan, const Outcome& outcome);
// The same and more for programs; docs/swarm.md describes it. Ends with a newline.
std::string jsonReport(const Plan& plan, const Outcome& outcome);

}  // namespace roost::swarm
