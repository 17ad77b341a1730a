#include "modules/static_files/lookups.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "event/task.h"

namespace roost::modules::static_files {
namespace {

// Done in one go before other tasks have their turn.
constexpr size_t kBatch = 16;
constexpr uint64_t kReadStep = 64 << 10;

void readThrough(Sys& sys, int fd, uint64_t size) {
  std::vector<char> buffer(static_cast<size_t>(std::min(size, kReadStep)));
  for (uint64_t at = 0; at < size;) {
    const ssize_t n = sys.readAt(fd, buffer.data(), buffer.size(), static_cast<int64_t>(at));
    if (n == -EINTR) continue;
    if (n <= 0) return;
    at += static_cast<uint64_t>(n);
  }
}

// Whether it is a file.
bool lookUp(Sys& sys, RootFolder& root, const Lookup& lookup, const std::string& name) {
  bool linked = false;
  const int fd = root.open(name.c_str() + 1, lookup.symlinks, true, linked);
  if (fd < 0) return false;
  struct stat info {};
  const bool is_file = sys.statFd(fd, &info) >= 0 && S_ISREG(info.st_mode);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (is_file && size <= lookup.read_bytes) readThrough(sys, fd, size);
  sys.closeFd(fd);
  return is_file;
}

void lookUpAll(Sys& sys, Lookup& lookup) {
  RootFolder root(sys, lookup.folder);
  root.refresh(0, 1, true);
  for (const std::string& name : lookup.names) {
    if (!lookUp(sys, root, lookup, name)) continue;
    for (const http::Coding coding : lookup.sidecars)
      lookUp(sys, root, lookup, name + std::string(http::codingSuffix(coding)));
    break;
  }
  lookup.done->run();
}

}  // namespace

bool Lookups::startWorker(event::TaskPool& tasks, Sys& sys, uint32_t root_id) {
  std::unique_ptr<event::Task> worker = event::makeTask(
      [self = shared_from_this(), &tasks, &sys, root_id] { self->work(tasks, sys, root_id); });
  return tasks.submit(worker);
}

bool Lookups::ask(event::TaskPool& tasks, Sys& sys, Lookup lookup) {
  if (!tasks.hasThreads()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t root_id = lookup.root_id;
  Root& root = roots_[root_id];
  if (root.waiting.size() >= kMaxWaiting) return false;
  if (root.running < std::max<size_t>(tasks.threads(), 2) - 1) {
    if (startWorker(tasks, sys, root_id)) {
      ++root.running;
    } else if (root.running == 0) {
      roots_.erase(root_id);
      return false;
    }
  }
  root.waiting.push_back(std::move(lookup));
  return true;
}

// A few, and then to the end of the pool's queue again, behind what others want done.
void Lookups::work(event::TaskPool& tasks, Sys& sys, uint32_t root_id) {
  for (size_t done = 0;; ++done) {
    Lookup lookup;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto root = roots_.find(root_id);
      std::deque<Lookup>& waiting = root->second.waiting;
      if (waiting.empty() || tasks.stopping()) {
        if (--root->second.running == 0) roots_.erase(root);
        return;
      }
      if (done >= kBatch && startWorker(tasks, sys, root_id)) return;
      lookup = std::move(waiting.front());
      waiting.pop_front();
    }
    lookUpAll(sys, lookup);
  }
}

}  // namespace roost::modules::static_files
