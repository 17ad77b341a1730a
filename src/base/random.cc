#include "base/random.h"

#include <sys/random.h>

namespace roost {

void randomBytes(void* out, std::size_t size) noexcept {
  // So few bytes come whole; only before the generator is ready may a signal be in the way.
  while (::getrandom(out, size, 0) != static_cast<ssize_t>(size)) {
  }
}

uint64_t randomWord() noexcept {
  uint64_t word = 0;
  randomBytes(&word, sizeof word);
  return word;
}

}  // namespace roost
