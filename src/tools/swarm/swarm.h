#pragma once

namespace roost::swarm {

// The whole program, from arguments to exit code (helpText() lists both). Never throws.
int runSwarm(int argc, char** argv);

}  // namespace roost::swarm
