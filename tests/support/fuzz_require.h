#pragma once

#include <cstdio>
#include <cstdlib>

namespace roost::test {

// What a fuzz target holds to be true whatever the input. Ends the process otherwise, for the fuzzer to see.
inline void require(bool condition, const char* what = "a property of the target") {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace roost::test
