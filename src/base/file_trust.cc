#include "base/file_trust.h"

#include <sys/stat.h>
#include <unistd.h>

namespace roost {

std::string whoMayChange(const char* path, bool gave_up_root) {
  struct stat info {};
  if (::stat(path, &info) != 0) return {};
  if ((info.st_mode & S_IWOTH) != 0) return "every user";
  return gave_up_root && ::access(path, W_OK) == 0 ? "the server's own user" : std::string();
}

}  // namespace roost
