#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"

namespace roost {

// Gives the calling thread a table of descriptors of its own (unshare(2), CLONE_FILES) and closes in it
// everything but 0, 1, 2 and `keep`. The limit of descriptors (RLIMIT_NOFILE) counts per table, so each such
// thread may hold that many, and no call of it waits for another thread's. From then on the number of a
// descriptor means something else here than in the other threads: none may be handed over or closed across.
// Threads started by this one afterwards share its table. Errors: the system's; what is open is then
// unchanged, or still open.
Status splitFdTable(std::vector<int> keep);

// Tells the tables apart that splitFdTable() has made: 0 in every thread that has not called it. What holds a
// descriptor may remember whose it is, and find out that it is somewhere else now.
uint32_t fdTable() noexcept;

}  // namespace roost
