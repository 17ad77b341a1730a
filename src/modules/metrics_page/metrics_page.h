#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::metrics_page {

// The module behind "metrics" in a route: what the process counts, for Prometheus.
std::unique_ptr<module::Module> makeMetricsPage();

}  // namespace roost::modules::metrics_page
