#pragma once

namespace roost::server {

// The whole program: reads the command line and the configuration, serves until it is told to stop. Returns
// the exit code: 0 ended as asked, 1 cannot serve, 2 wrong command line.
int runProgram(int argc, char** argv);

}  // namespace roost::server
