// The roots: which folder each name leads to, and what is done when it comes to lead to another.
#include <algorithm>
#include <iterator>
#include <utility>

#include "modules/static_files/loop_files.h"

namespace roost::modules::static_files {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// A folder that nobody asked for this long is let go: the routes of a configuration that was replaced.
constexpr int64_t kForgetRootNs = 60 * kSecondNs;

}  // namespace

// Not every way to another folder tells of itself (a mount, a network file system, no watches left), so all
// roots are looked at in turn. What is known of a root's files is thus never older than revalidate_ns after
// such a change, whichever was asked for.
void LoopFiles::checkRoots() {
  const int64_t now_ns = loop_.nowNs();
  const int64_t every_ns = options_.revalidate_ns > 0 ? options_.revalidate_ns : kSecondNs;
  check_roots_at_ns_ = now_ns + every_ns;
  for (auto held = folders_.begin(); held != folders_.end();) {
    const bool forgotten = now_ns - held->second.used_ns > std::max(every_ns, kForgetRootNs);
    if (!forgotten) {
      settle(held->first, held->second, false);
      ++held;
      continue;
    }
    cache_.eraseBelow(held->first, "");
    releaseTrail(held->second);
    held = folders_.erase(held);
  }
}

// Makes sure that the root is the folder that its name leads to. False: that cannot be known without waiting,
// and what was open may not be served.
bool LoopFiles::settle(uint32_t root_id, HeldFolder& held, bool may_block) {
  RootFolder& folder = held.folder;
  if (!folder.isDue(loop_.nowNs())) return true;
  const bool may_wait = mayWait(may_block);
  // The way is watched first and gone then, so that no change falls between. Walking it may wait, so the
  // kernel has to know it before.
  const bool walks = watcher_.working() && held.trail.empty() && (may_wait || !folder.isCold());
  if (walks) watchTrail(root_id, held);
  switch (folder.refresh(loop_.nowNs(), std::max<int64_t>(options_.revalidate_ns, 1), may_wait)) {
    case RootFolder::Look::kSame:
      held.moved = false;
      return true;
    case RootFolder::Look::kFirst:
      break;
    case RootFolder::Look::kMoved:
      if (!walks) {  // nothing has told of it: the way is another one
        releaseTrail(held);
        folder.expire();
      }
      shared_.news->tell(this, root_id, folder.identity());
      break;
    case RootFolder::Look::kCold:
      if (held.moved || !folder.isOpen()) return false;
      lookBehind(root_id, held);
      return true;
  }
  held.moved = false;
  cache_.eraseBelow(root_id, "");
  return true;
}

// What is open is served until a task thread has gone the way.
void LoopFiles::lookBehind(uint32_t root_id, HeldFolder& held) {
  if (held.looking) return;
  Lookup lookup;
  lookup.root_id = root_id;
  lookup.folder = held.folder.folder();
  lookup.done = event::makeTask([link = link_, root_id] {
    link->loop->post(event::makeTask([link, root_id] {
      if (link->user != nullptr) link->user->onRootKnown(root_id);
    }));
  });
  held.looking = shared_.lookups->ask(context_.tasks(), loop_.sys(), std::move(lookup));
}

void LoopFiles::onRootKnown(uint32_t root_id) noexcept {
  const auto held = folders_.find(root_id);
  if (held == folders_.end()) return;
  held->second.looking = false;
  held->second.folder.expire();
  settle(root_id, held->second, true);
}

// From here on nothing is answered from where the name has led before.
void LoopFiles::onRootMoved(uint32_t root_id) noexcept {
  const auto found = folders_.find(root_id);
  if (found == folders_.end()) return;
  HeldFolder& held = found->second;
  releaseTrail(held);
  held.folder.expire();
  held.moved = true;
  if (!settle(root_id, held, false)) cache_.eraseBelow(root_id, "");
}

bool LoopFiles::lookUp(http::Exchange& exchange, const RootOptions& root, std::vector<std::string> paths,
                       void (*next)(http::Exchange&)) {
  Lookup lookup;
  lookup.root_id = root.id;
  lookup.folder = root.folder;
  lookup.symlinks = root.symlinks;
  lookup.sidecars = root.precompressed;
  lookup.read_bytes = options_.max_file_bytes;
  for (std::string& path : paths) {
    if (path.back() == '/') {
      for (const std::string& index : root.index) lookup.names.push_back(path + index);
    } else {
      lookup.names.push_back(std::move(path));
    }
  }
  lookup.done = event::makeTask([handle = exchange.handle(), next] { handle.post(next); });
  const bool taken = shared_.lookups->ask(context_.tasks(), loop_.sys(), std::move(lookup));
  const http::HttpCounters* counters = context_.counters();
  if (!taken && counters != nullptr && context_.tasks().hasThreads()) counters->lookups_refused.add();
  return taken;
}

// A way that changes while it is being watched is gone again.
void LoopFiles::watchTrail(uint32_t root_id, HeldFolder& held) {
  constexpr int kAttempts = 4;
  std::vector<TrailStep> trail = trailOf(loop_.sys(), held.folder.folder());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    releaseTrail(held);
    for (const TrailStep& step : trail) {
      Watch* watch = watcher_.watchStep(root_id, step.folder, step.name);
      if (watch != nullptr) held.trail.push_back(watch);
    }
    std::vector<TrailStep> now = trailOf(loop_.sys(), held.folder.folder());
    if (now == trail) return;
    trail = std::move(now);
  }
}

void LoopFiles::releaseTrail(HeldFolder& held) noexcept {
  for (Watch* watch : std::exchange(held.trail, {})) watcher_.release(watch);
}

LoopFiles::HeldFolder& LoopFiles::heldFolder(const RootOptions& root) {
  HeldFolder& held = folders_.try_emplace(root.id, loop_.sys(), root.folder).first->second;
  held.used_ns = loop_.nowNs();
  return held;
}

}  // namespace roost::modules::static_files
