#include "modules/static_files/root_trail.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>

namespace roost::modules::static_files {
namespace {

constexpr int kMaxLinks = 40;  // the kernel's own limit

// Takes the first step off `rest`; "" where there is none left.
std::string takeStep(std::string& rest) {
  const size_t from = rest.find_first_not_of('/');
  if (from == std::string::npos) {
    rest.clear();
    return {};
  }
  const size_t end = rest.find('/', from);
  std::string step = rest.substr(from, end == std::string::npos ? end : end - from);
  rest.erase(0, end == std::string::npos ? rest.size() : end);
  return step;
}

}  // namespace

std::vector<TrailStep> trailOf(Sys& sys, const std::string& path) {
  std::vector<TrailStep> trail;
  std::string rest = path;
  std::string folder;
  int links = 0;
  for (;;) {
    const std::string step = takeStep(rest);
    if (step.empty()) return trail;
    if (step == ".") continue;
    if (step == "..") {
      folder.erase(folder.empty() ? 0 : folder.rfind('/'));
      continue;
    }
    const std::string full = folder + "/" + step;
    std::array<char, PATH_MAX> target;
    const ssize_t size = sys.readLinkAt(AT_FDCWD, full.c_str(), target.data(), target.size());
    if (size == -EINVAL) {  // no link
      trail.push_back({full, ""});
      folder = full;
      continue;
    }
    trail.push_back({folder, step});
    if (size < 0 || ++links > kMaxLinks) return trail;
    rest.insert(0, std::string(target.data(), static_cast<size_t>(size)) + "/");
    if (target[0] == '/') folder.clear();
  }
}

}  // namespace roost::modules::static_files
