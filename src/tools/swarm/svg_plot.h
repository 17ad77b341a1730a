#pragma once

#include <string>

#include "tools/swarm/run.h"

namespace roost::swarm {

// A picture of a run, as one SVG document that needs nothing else: latency by percentile (both axes
// logarithmic, the percentiles towards 100), and rate and clients over time.
std::string svgPlot(const Plan& plan, const Outcome& outcome);

}  // namespace roost::swarm
