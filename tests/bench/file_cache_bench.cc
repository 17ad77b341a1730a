// links: roost_modules_static_files
// What a change of one folder costs where the cache is full of other folders' files, and what a switched root
// does.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "modules/static_files/file_cache.h"

namespace {

using roost::modules::static_files::FileCache;
using roost::modules::static_files::FileEntry;

struct Keeper final : FileCache::Keeper {
  void onLeave(FileEntry&) noexcept override {}
  uint64_t bytesBeside() const noexcept override { return 0; }
};

constexpr int kFolders = 6500;
constexpr int kFiles = 10;

std::string folderOf(int number) {
  return "/folder" + std::to_string(number);
}

void fill(FileCache& cache) {
  for (int folder = 0; folder < kFolders; ++folder) {
    for (int file = 0; file < kFiles; ++file) {
      auto entry = std::make_unique<FileEntry>();
      entry->root_id = 1;
      entry->kind = FileEntry::Kind::kFolder;
      entry->path = folderOf(folder) + "/file" + std::to_string(file);
      cache.insert(std::move(entry));
    }
  }
}

template <class Fn>
double microseconds(Fn&& fn) {
  const auto from = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count();
}

}  // namespace

int main() {
  Keeper keeper;
  FileCache cache(UINT64_MAX, 1 << 20, keeper);
  const double filled = microseconds([&] { fill(cache); });
  constexpr int kChanges = 200;
  const double changes = microseconds([&] {
    for (int i = 0; i < kChanges; ++i) cache.eraseBelow(1, folderOf(i * 7));
  });
  const size_t left = cache.size();
  const double all = microseconds([&] { cache.eraseBelow(1, ""); });
  std::printf("insert %.3f us, change of a folder of %d files beside %zu %.2f us, of the root %.0f us\n",
              filled / (kFolders * kFiles), kFiles, left, changes / kChanges, all);
  return 0;
}
