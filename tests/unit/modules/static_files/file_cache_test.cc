#include "modules/static_files/file_cache.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <set>
#include <string>

#include "support/temp_file.h"

namespace roost::modules::static_files {
namespace {

struct Keeper final : FileCache::Keeper {
  std::vector<std::string> left;
  uint64_t beside = 0;
  void onLeave(FileEntry& entry) noexcept override { left.push_back(entry.path); }
  uint64_t bytesBeside() const noexcept override { return beside; }
};

std::unique_ptr<FileEntry> entryOf(std::string path, uint32_t root_id = 1, size_t body = 0) {
  auto entry = std::make_unique<FileEntry>();
  entry->root_id = root_id;
  entry->path = entry->file_path = std::move(path);
  entry->kind = FileEntry::Kind::kBody;
  http::ResponseHead head(200);
  entry->whole = http::PreparedResponse(head, body, "");
  return entry;
}

std::unique_ptr<FileEntry> refusedOf(std::string path) {
  auto entry = entryOf(std::move(path));
  entry->kind = FileEntry::Kind::kRefused;
  entry->whole = http::PreparedResponse();
  return entry;
}

std::unique_ptr<FileEntry> openOf(std::string path) {
  auto entry = refusedOf(std::move(path));
  entry->kind = FileEntry::Kind::kFile;
  entry->file = net::OpenFile(realSys(), test::tempFile("x"));
  return entry;
}

TEST_CASE("file cache: finds by root and path", "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 100, keeper);
  cache.insert(entryOf("/a"));
  cache.insert(entryOf("/a", 2));
  CHECK(cache.find(1, "/a")->root_id == 1);
  CHECK(cache.find(2, "/a")->root_id == 2);
  CHECK(cache.find(3, "/a") == nullptr);
  CHECK(cache.find(1, "/") == nullptr);
  CHECK(cache.find(1, "/a/") == nullptr);
  cache.erase(1, "/a");
  CHECK(cache.find(1, "/a") == nullptr);
  CHECK(cache.find(2, "/a") != nullptr);
}

TEST_CASE("file cache: an entry of the same name replaces the old one", "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 100, keeper);
  cache.insert(entryOf("/a", 1, 10));
  const uint64_t before = cache.bytes();
  cache.insert(entryOf("/a", 1, 20));
  CHECK(cache.size() == 1);
  CHECK(cache.bytes() == before + 10);
  CHECK(keeper.left == std::vector<std::string>{"/a"});
}

TEST_CASE("file cache: the least recently used leaves first", "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 3, keeper);
  for (const char* path : {"/1", "/2", "/3"}) cache.insert(entryOf(path));
  cache.find(1, "/1");
  cache.insert(entryOf("/4"));
  cache.insert(entryOf("/5"));
  CHECK(keeper.left == std::vector<std::string>{"/2", "/3"});
  CHECK(cache.find(1, "/1") != nullptr);
}

TEST_CASE("file cache: eraseBelow takes the path, its slash and what is below, nothing else",
          "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 100, keeper);
  for (const char* path : {"/a", "/a/", "/a/b", "/a/b/c", "/ab", "/b/a"}) cache.insert(entryOf(path));
  cache.insert(entryOf("/a/b", 2));
  cache.eraseBelow(1, "/a");
  CHECK(keeper.left.size() == 4);
  CHECK(cache.find(1, "/ab") != nullptr);
  CHECK(cache.find(1, "/b/a") != nullptr);
  CHECK(cache.find(2, "/a/b") != nullptr);
  cache.eraseBelow(1, "");
  CHECK(cache.size() == 1);
}

TEST_CASE("file cache: what is too large for all of it does not fit", "[static_files]") {
  Keeper keeper;
  const FileCache none(0, 100, keeper);
  CHECK_FALSE(none.fits(*entryOf("/a")));
  const FileCache no_entries(1 << 20, 0, keeper);
  CHECK_FALSE(no_entries.fits(*entryOf("/a")));
  const FileCache small(10000, 100, keeper);
  CHECK(small.fits(*entryOf("/a", 1, 5000)));
  CHECK_FALSE(small.fits(*entryOf("/a", 1, 10000)));
}

TEST_CASE("file cache: every byte that an entry takes is charged", "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 100, keeper);
  const std::string long_path = "/" + std::string(1000, 'p');
  cache.insert(entryOf(long_path, 1, 2000));
  CHECK(cache.bytes() >= sizeof(FileEntry) + 2 * 1001 + 2000);
  cache.clear();
  CHECK(cache.bytes() == 0);
}

TEST_CASE("file cache: what its keeper holds for it counts", "[static_files]") {
  Keeper keeper;
  FileCache cache(20000, 100, keeper);
  for (int i = 0; i < 10; ++i) cache.insert(entryOf("/" + std::to_string(i), 1, 100));
  REQUIRE(cache.size() == 10);
  keeper.beside = 20000 - cache.bytes() / 2;
  cache.insert(entryOf("/new"));
  CHECK(cache.size() < 10);
  CHECK(cache.bytes() + keeper.beside <= 20000);
  CHECK(cache.find(1, "/new") != nullptr);
}

TEST_CASE("file cache: open files are bounded by their own number", "[static_files]") {
  Keeper keeper;
  FileCache cache(64 << 20, 100000, keeper);
  cache.insert(entryOf("/body"));
  for (size_t i = 0; i < FileCache::kMaxOpenFiles; ++i) cache.insert(openOf("/f" + std::to_string(i)));
  CHECK(keeper.left.empty());
  cache.find(1, "/f0");
  cache.insert(openOf("/g"));
  cache.insert(openOf("/h"));
  CHECK(keeper.left == std::vector<std::string>{"/f1", "/f2"});
  CHECK(cache.find(1, "/body") != nullptr);
  CHECK(cache.eraseOpenFiles());
  CHECK_FALSE(cache.eraseOpenFiles());
  CHECK(cache.size() == 1);
}

TEST_CASE("file cache: names that do not exist cannot push the files out", "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 100, keeper);
  for (int i = 0; i < 50; ++i) cache.insert(entryOf("/f" + std::to_string(i)));
  for (int i = 0; i < 1000; ++i) cache.insert(refusedOf("/no" + std::to_string(i)));
  CHECK(cache.size() == 50 + 100 / FileCache::kRefusedShare);
  for (int i = 0; i < 50; ++i) CHECK(cache.find(1, "/f" + std::to_string(i)) != nullptr);
  for (int i = 0; i < 1000; ++i) cache.insert(refusedOf("/" + std::string(20000, 'x') + std::to_string(i)));
  CHECK(cache.bytes() < (1 << 20) / 2);
  CHECK(cache.find(1, "/f0") != nullptr);
}

TEST_CASE("file cache: what lies below a folder, and nothing else", "[static_files]") {
  Keeper keeper;
  FileCache cache(1 << 20, 100, keeper);
  const std::vector<std::string> below = {"/a/b",     "/a/b/",    "/a/b/c", "/a/b/c/",
                                          "/a/b/c/d", "/a/b/-/x", "/a/b/~"};
  const std::vector<std::string> beside = {"/",     "/a",      "/a/",     "/a/c",   "/a/b-c", "/a/b-c/d",
                                           "/a/b0", "/a/b0/x", "/a/b./x", "/b/a/b", "/a/bb/c"};
  for (const auto* paths : {&below, &beside}) {
    for (const std::string& path : *paths) cache.insert(entryOf(path));
  }
  cache.insert(entryOf("/a/b/c", 2));
  cache.eraseBelow(1, "/a/b");
  std::sort(keeper.left.begin(), keeper.left.end());
  std::vector<std::string> expected = below;
  std::sort(expected.begin(), expected.end());
  CHECK(keeper.left == expected);
  CHECK(cache.find(2, "/a/b/c") != nullptr);
  cache.eraseBelow(1, "");
  CHECK(cache.size() == 1);
  cache.eraseBelow(2, "");
  CHECK(cache.bytes() == 0);
}

// Random operations beside a list that is kept in plain order of use.
TEST_CASE("file cache: does as a simple model does", "[static_files]") {
  struct Model {
    std::list<std::pair<std::string, size_t>> recent;  // most recent last
    auto find(const std::string& path) {
      return std::find_if(recent.begin(), recent.end(), [&](const auto& item) { return item.first == path; });
    }
    void use(const std::string& path) {
      const auto at = find(path);
      if (at != recent.end()) recent.splice(recent.end(), recent, at);
    }
    uint64_t bytes() const {
      uint64_t sum = 0;
      std::set<std::string> folders;
      for (const auto& [path, charge] : recent) {
        sum += charge;
        folders.insert(path.substr(0, path.rfind('/')));
      }
      return sum + folders.size() * FileCache::kFolderBytes;
    }
  };
  constexpr uint64_t kMaxBytes = 400'000;
  constexpr size_t kMaxEntries = 300;
  Keeper keeper;
  FileCache cache(kMaxBytes, kMaxEntries, keeper);
  Model model;
  std::mt19937 random(7);
  for (int step = 0; step < 20000; ++step) {
    const std::string path = "/" + std::to_string(random() % 20) + "/" + std::to_string(random() % 40);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        auto entry = entryOf(path, 1, random() % 4000);
        const auto old = model.find(path);
        if (old != model.recent.end()) model.recent.erase(old);
        const size_t charge = cache.insert(std::move(entry)).charged_bytes;
        model.recent.emplace_back(path, charge);
        while (model.bytes() > kMaxBytes || model.recent.size() > kMaxEntries) model.recent.pop_front();
        break;
      }
      case 3:
        if (random() % 20 == 0) {
          const std::string below = path.substr(0, path.rfind('/'));
          cache.eraseBelow(1, below);
          model.recent.remove_if([&](const auto& item) { return item.first.rfind(below + "/", 0) == 0; });
        }
        break;
      case 4: {
        cache.erase(1, path);
        const auto at = model.find(path);
        if (at != model.recent.end()) model.recent.erase(at);
        break;
      }
      default: {
        const FileEntry* found = cache.find(1, path);
        const bool expected = model.find(path) != model.recent.end();
        REQUIRE((found != nullptr) == expected);
        model.use(path);
        if (found != nullptr) REQUIRE(found->path == path);
      }
    }
    REQUIRE(cache.size() == model.recent.size());
    REQUIRE(cache.bytes() == model.bytes());
    REQUIRE(cache.bytes() <= kMaxBytes);
  }
  // And in the same order.
  keeper.left.clear();
  cache.clear();
  std::vector<std::string> order;
  for (const auto& item : model.recent) order.push_back(item.first);
  CHECK(keeper.left == order);
}

TEST_CASE("file cache: holds more entries than it has buckets at first", "[static_files]") {
  Keeper keeper;
  FileCache cache(64 << 20, 100000, keeper);
  for (int i = 0; i < 5000; ++i) cache.insert(entryOf("/file/" + std::to_string(i)));
  for (int i = 0; i < 5000; ++i) REQUIRE(cache.find(1, "/file/" + std::to_string(i)) != nullptr);
}

}  // namespace
}  // namespace roost::modules::static_files
