#pragma once

#include <vector>

#include "base/status.h"

namespace roost::server {

// The processors this process may run on, in ascending order; never empty. Any thread.
std::vector<int> allowedProcessors();

// Ties the calling thread to one processor.
Status pinThisThread(int processor);

}  // namespace roost::server
