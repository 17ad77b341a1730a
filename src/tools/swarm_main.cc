#include "tools/swarm/swarm.h"

int main(int argc, char** argv) {
  return roost::swarm::runSwarm(argc, argv);
}
