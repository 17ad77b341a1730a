#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace roost::test {

// A file without a name, with this content; gone with its last descriptor.
inline int tempFile(std::string_view content) {
  char path[] = "/tmp/roost-test-XXXXXX";
  const int fd = ::mkstemp(path);
  ::unlink(path);
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n <= 0) break;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return fd;
}

// `size` bytes in which every place can be told from its neighbours.
inline std::string patternOf(size_t size, unsigned seed = 1) {
  std::string out(size, '\0');
  uint32_t x = seed * 2654435761u + 1;
  for (char& c : out) {
    x = x * 1664525u + 1013904223u;
    c = static_cast<char>('!' + (x >> 24) % 90);
  }
  return out;
}

}  // namespace roost::test
