#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/sys.h"
#include "event/task_pool.h"
#include "http/negotiation.h"
#include "modules/static_files/root_folder.h"

namespace roost::modules::static_files {

// Names that a loop could not look up without waiting.
struct Lookup {
  uint32_t root_id = 0;
  std::string folder;  // the root's
  SymlinkPolicy symlinks = SymlinkPolicy::kWithin;
  std::vector<std::string> names;  // below the root, each begins with '/'; the first that is a file ends it
  http::CodingOrder sidecars;      // looked up beside that file
  uint64_t read_bytes = 0;         // a file of at most this size is read too
  std::unique_ptr<event::Task> done;  // run on the task thread afterwards: it posts to a loop
};

// Lookups does on task threads what would make a loop wait for a disk or another machine: it looks names up
// and reads small files, so that the loop finds both in the kernel's memory when it looks again. One root has
// at most all threads but one (and at least one), so a root that hangs leaves the others something. Shared by
// all loops; any thread. The lock is taken once per name that the kernel does not know.
class Lookups : public std::enable_shared_from_this<Lookups> {
 public:
  static constexpr size_t kMaxWaiting = 1024;  // of one root

  // False: too many wait, or there are no threads; nothing happens. A lookup that was taken is done, or
  // destroyed when the pool ends.
  bool ask(event::TaskPool& tasks, Sys& sys, Lookup lookup);

 private:
  struct Root {
    std::deque<Lookup> waiting;
    size_t running = 0;
  };
  bool startWorker(event::TaskPool& tasks, Sys& sys, uint32_t root_id);
  void work(event::TaskPool& tasks, Sys& sys, uint32_t root_id);

  std::mutex mutex_;
  std::map<uint32_t, Root> roots_;  // those with something to do
};

}  // namespace roost::modules::static_files
