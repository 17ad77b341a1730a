#include "server/startup.h"

int main(int argc, char** argv) {
  return roost::server::runProgram(argc, argv);
}
