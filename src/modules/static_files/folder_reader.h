#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/sys.h"
#include "modules/static_files/root_folder.h"

namespace roost::modules::static_files {

// Which folder to read and what of it may be seen. Holds copies: the route may be gone by the time.
struct FolderRequest {
  std::string root;  // the folder served
  std::string path;  // of the folder to read, below the root; begins and ends with '/'
  SymlinkPolicy symlinks = SymlinkPolicy::kWithin;
  bool dot_files = false;
  size_t limit = 10'000;  // names that are looked at, shown or not
};

struct FolderItem {
  std::string name;  // as the file system has it: any bytes but '/' and control characters
  bool is_folder = false;
  uint64_t size = 0;
  int64_t modified_s = 0;  // since 1970
};

struct FolderContent {
  int error = 0;           // errno; then there is nothing else
  bool truncated = false;  // there are more names than the limit
  std::vector<FolderItem> items;
};

// What of a folder can be asked for: files and folders, and links to them as far as the policy follows those.
// In the order of the file system. Blocks: for task threads.
FolderContent readFolder(Sys& sys, const FolderRequest& request);

}  // namespace roost::modules::static_files
