#include "modules/static_files/file_cache.h"

#include <cstring>
#include <utility>

#include "base/random.h"

namespace roost::modules::static_files {
namespace {

constexpr size_t kFirstBuckets = 1024;
// Two buckets (they are between half full and full), and what the allocator and reference counts add to the
// entry, its strings, its answer or file.
constexpr size_t kEntryOverhead = 2 * sizeof(void*) + 96;

size_t heapBytes(const std::string& text) noexcept {
  constexpr size_t kInPlace = 15;
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}

uint64_t mix(uint64_t a, uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t load(const char* p, size_t size) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, p, size);
  return word;
}

}  // namespace

FileCache::FileCache(uint64_t max_bytes, size_t max_entries, Keeper& keeper)
    : max_bytes_(max_bytes),
      max_entries_(max_entries),
      seed_(randomWord()),
      keeper_(keeper),
      buckets_(kFirstBuckets, nullptr),
      open_(kMaxOpenFiles, UINT64_MAX),
      refused_(max_entries / kRefusedShare, max_bytes / kRefusedShare) {}

FileCache::~FileCache() {
  clear();
}

// Multiply-and-fold over eight bytes at a time, seeded.
uint64_t FileCache::hashOf(uint32_t root_id, std::string_view path) const noexcept {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
  uint64_t hash = seed_ ^ (uint64_t{root_id} << 32) ^ path.size();
  const char* p = path.data();
  size_t left = path.size();
  for (; left > 8; p += 8, left -= 8) hash = mix(hash ^ load(p, 8), kMultiplier);
  return mix(hash ^ load(p, left), kMultiplier);
}

size_t FileCache::chargeOf(const FileEntry& entry) noexcept {
  return sizeof(FileEntry) + kEntryOverhead + heapBytes(entry.path) + heapBytes(entry.file_path) +
         heapBytes(entry.content_type) + entry.whole.size();
}

size_t FileCache::chargeOf(const FolderKey& key) noexcept {
  static_assert(sizeof(Folders::value_type) + 4 * sizeof(void*) <= kFolderBytes);
  return kFolderBytes + heapBytes(key.second);
}

void FileCache::addToFolder(FileEntry& entry) {
  const auto [place, fresh] = folders_.try_emplace(FolderKey(entry.root_id, folderOf(entry)));
  if (fresh) bytes_ += chargeOf(place->first);
  ++place->second.count;
  place->second.list.insertBefore(static_cast<FolderHook&>(entry));
}

void FileCache::removeFromFolder(FileEntry& entry) noexcept {
  const auto place = folders_.find(FolderKey(entry.root_id, folderOf(entry)));
  static_cast<FolderHook&>(entry).unlink();
  if (--place->second.count > 0) return;
  bytes_ -= chargeOf(place->first);
  folders_.erase(place);
}

FileCache::Group* FileCache::groupOf(const FileEntry& entry) noexcept {
  if (entry.file) return &open_;
  return entry.kind == FileEntry::Kind::kRefused ? &refused_ : nullptr;
}

FileEntry* FileCache::find(uint32_t root_id, std::string_view path) noexcept {
  const uint64_t hash = hashOf(root_id, path);
  FileEntry* entry = *slotOf(hash);
  while (entry != nullptr && (entry->hash != hash || entry->root_id != root_id || entry->path != path)) {
    entry = entry->next_in_bucket;
  }
  if (entry != nullptr) touch(*entry);
  return entry;
}

void FileCache::touch(FileEntry& entry) noexcept {
  RecentHook& recent = entry;
  if (recent_.prev != &recent) {
    recent.unlink();
    recent_.insertBefore(recent);
  }
  Group* group = groupOf(entry);
  if (group == nullptr) return;
  GroupHook& hook = entry;
  if (group->list.prev != &hook) {
    hook.unlink();
    group->list.insertBefore(hook);
  }
}

FileEntry& FileCache::insert(std::unique_ptr<FileEntry> owned) {
  erase(owned->root_id, owned->path);
  FileEntry& entry = *owned.release();
  entry.hash = hashOf(entry.root_id, entry.path);
  entry.charged_bytes = chargeOf(entry);
  if (size_ >= buckets_.size()) grow();
  FileEntry** slot = slotOf(entry.hash);
  entry.next_in_bucket = *slot;
  *slot = &entry;
  addToFolder(entry);
  takeIn(entry, 1);
  return entry;
}

FileEntry& FileCache::insertForm(FileEntry& original, std::unique_ptr<FileEntry> owned) {
  FileEntry*& slot = original.forms[static_cast<size_t>(owned->coding)];
  if (slot != nullptr) erase(*slot);
  FileEntry& form = *owned.release();
  form.original = &original;
  slot = &form;
  touch(original);
  form.charged_bytes = chargeOf(form);
  takeIn(form, 2);
  return form;
}

// Counts what has just been linked; the `stay` entries used last are not pushed out.
void FileCache::takeIn(FileEntry& entry, size_t stay) {
  ++size_;
  bytes_ += entry.charged_bytes;
  touch(entry);
  if (Group* group = groupOf(entry)) {
    ++group->count;
    group->bytes += entry.charged_bytes;
    while (group->count > stay && (group->count > group->max_count || group->bytes > group->max_bytes))
      erase(groupEntry(*group->list.next));
  }
  while (size_ > stay && (size_ > max_entries_ || bytes_ + keeper_.bytesBeside() > max_bytes_))
    erase(recentEntry(*recent_.next));
}

void FileCache::moveMadeForms(FileEntry& from, FileEntry& to) noexcept {
  to.no_made = from.no_made;
  for (size_t i = 0; i < from.forms.size(); ++i) {
    if (from.forms[i] == nullptr || from.forms[i]->origin != FileEntry::Origin::kMade) continue;
    to.forms[i] = std::exchange(from.forms[i], nullptr);
    to.forms[i]->original = &to;
  }
}

void FileCache::grow() {
  std::vector<FileEntry*> old(buckets_.size() * 2, nullptr);
  old.swap(buckets_);
  for (FileEntry* entry : old) {
    while (entry != nullptr) {
      FileEntry* next = entry->next_in_bucket;
      FileEntry** slot = slotOf(entry->hash);
      entry->next_in_bucket = *slot;
      *slot = entry;
      entry = next;
    }
  }
}

void FileCache::unlinkName(FileEntry& entry) noexcept {
  FileEntry** link = slotOf(entry.hash);
  while (*link != &entry) link = &(*link)->next_in_bucket;
  *link = entry.next_in_bucket;
}

void FileCache::erase(FileEntry& entry) noexcept {
  if (entry.original != nullptr) {
    entry.original->forms[static_cast<size_t>(entry.coding)] = nullptr;
  } else {
    for (FileEntry* form : entry.forms) {
      if (form != nullptr) erase(*form);
    }
    unlinkName(entry);
    removeFromFolder(entry);
  }
  static_cast<RecentHook&>(entry).unlink();
  static_cast<GroupHook&>(entry).unlink();
  if (Group* group = groupOf(entry)) {
    --group->count;
    group->bytes -= entry.charged_bytes;
  }
  --size_;
  bytes_ -= entry.charged_bytes;
  keeper_.onLeave(entry);
  delete &entry;
}

void FileCache::erase(uint32_t root_id, std::string_view path) noexcept {
  if (FileEntry* entry = find(root_id, path)) erase(*entry);
}

// The folder itself goes with its last entry.
void FileCache::eraseFolder(Folder& folder) noexcept {
  for (size_t left = folder.count; left > 0; --left) {
    erase(static_cast<FileEntry&>(static_cast<FolderHook&>(*folder.list.next)));
  }
}

void FileCache::eraseBelow(uint32_t root_id, std::string_view path) noexcept {
  erase(root_id, path);
  const std::string own(path);
  const auto folder = folders_.find(FolderKey(root_id, own));
  if (folder != folders_.end()) eraseFolder(folder->second);
  // What lies deeper begins with "/a/b/"; '0' is the character behind '/'.
  const auto end = folders_.lower_bound(FolderKey(root_id, own + '0'));
  for (auto it = folders_.lower_bound(FolderKey(root_id, own + '/')); it != end;) {
    Folder& below = it->second;
    ++it;
    eraseFolder(below);
  }
}

void FileCache::clear() noexcept {
  while (recent_.linked()) erase(recentEntry(*recent_.next));
}

bool FileCache::eraseOpenFiles() noexcept {
  if (open_.count == 0) return false;
  while (open_.list.linked()) erase(groupEntry(*open_.list.next));
  return true;
}

}  // namespace roost::modules::static_files
