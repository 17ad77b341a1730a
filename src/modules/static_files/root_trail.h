#pragma once

#include <string>
#include <vector>

#include "base/sys.h"

namespace roost::modules::static_files {

// One step on the way from "/" to the folder that a path leads to.
struct TrailStep {
  std::string folder;  // without links; "" is "/"
  std::string name;    // of a symbolic link in it, or of what is missing there; "": the folder itself
  bool operator==(const TrailStep& other) const noexcept {
    return folder == other.folder && name == other.name;
  }
};

// Every folder on the way to `path` (absolute) and every symbolic link, those that links lead to included, in
// the order in which they are met. A change of any of them may make the path lead elsewhere. It ends at the
// first that is missing.
std::vector<TrailStep> trailOf(Sys& sys, const std::string& path);

}  // namespace roost::modules::static_files
