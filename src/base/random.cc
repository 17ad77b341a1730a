#include "base/random.h"

#include <sys/random.h>

namespace roost {

uint64_t randomWord() noexcept {
  uint64_t word = 0;
  // So few bytes come whole; only before the generator is ready may a signal be in the way.
  while (::getrandom(&word, sizeof word, 0) != static_cast<ssize_t>(sizeof word)) {
  }
  return word;
}

}  // namespace roost
