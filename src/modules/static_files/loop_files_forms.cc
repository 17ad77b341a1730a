// The coded forms of files: those that lie beside them.
#include <algorithm>
#include <utility>

#include "modules/static_files/loop_files.h"

namespace roost::modules::static_files {

LoopFiles::Found LoopFiles::findSidecar(const RootOptions& root, FileEntry& original, http::Coding coding,
                                        bool may_block, const Asked& asked) {
  const auto index = static_cast<size_t>(coding);
  const auto bit = static_cast<uint8_t>(1U << index);
  FileEntry* known = original.forms[index];
  if (known != nullptr && known->origin == FileEntry::Origin::kFile) {
    cache_.touchForm(*known);
    return {known, nullptr, false};
  }
  if ((original.no_sidecar & bit) != 0 || isSidecar(root, original.file_path)) return {};
  const auto held = folders_.find(root.id);
  if (held == folders_.end()) return {};
  const bool cached = FileCache::holds(original);
  Found found;
  found.owned = std::make_unique<FileEntry>();
  FileEntry& entry = *found.owned;
  found.entry = &entry;
  entry.root_id = root.id;
  entry.path = original.path;
  entry.file_path = original.file_path + std::string(http::codingSuffix(coding));
  entry.coding = coding;
  entry.expires_ns = original.expires_ns;
  // Nothing here may let go of the original: its folder is not looked at again.
  Look look{root, held->second.folder, entry, may_block, asked, coding};
  if (original.watch != nullptr)
    entry.watch = watcher_.watchFolder(root.id, root.folder, folderOfPath(original.path));
  lookAtSidecar(look);
  found.cold = look.cold;
  const bool is_file = entry.kind == FileEntry::Kind::kBody || entry.kind == FileEntry::Kind::kFile;
  const bool fresh = is_file && entry.version.mtime_ns >= original.version.mtime_ns;
  if (look.cold) {
    onLeave(entry);
    return found;
  }
  // What the sidecar is like is known as long as what the file is like.
  original.expires_ns = std::min(original.expires_ns, entry.expires_ns);
  if (!fresh) {
    onLeave(entry);
    original.no_sidecar = static_cast<uint8_t>(original.no_sidecar | bit);
    return {};
  }
  if (!cached || !cache_.fitsBeside(original, entry)) {
    onLeave(entry);
    return found;
  }
  found.entry = &cache_.insertForm(original, std::move(found.owned));
  return found;
}

// A sidecar that changes while it is being read is looked at again.
void LoopFiles::lookAtSidecar(Look& look) {
  FileEntry& entry = look.entry;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int fd = look.folder.open(entry.file_path.c_str() + 1, look.root.symlinks, mayWait(look.may_block),
                                    look.linked);
    look.cold = fd == -EAGAIN && !mayWait(look.may_block);
    if (fd < 0 || describe(look, fd)) return;
    entry.kind = FileEntry::Kind::kRefused;
  }
}

std::unique_ptr<FileEntry> LoopFiles::outlineOf(const FileEntry& original, http::Coding coding,
                                                FileEntry::Origin origin, const http::Compression& policy) {
  auto form = std::make_unique<FileEntry>();
  form->root_id = original.root_id;
  form->path = original.path;
  form->file_path = original.file_path;
  form->last_modified_s = original.last_modified_s;
  form->content_type = original.content_type;
  form->varies = true;
  form->coding = coding;
  form->origin = origin;
  // Weak: another version of the library may make other bytes of the same content.
  form->etag = http::withSuffix(original.etag, policy.tagSuffix(coding), true);
  return form;
}

bool LoopFiles::hasMade(FileEntry& original, http::Coding coding) noexcept {
  FileEntry* known = original.forms[static_cast<size_t>(coding)];
  if (known == nullptr || known->origin != FileEntry::Origin::kMade) return false;
  cache_.touchForm(*known);
  return true;
}

LoopFiles::Coming LoopFiles::beginMaking(const RootOptions& root, const FileEntry& original,
                                         http::Coding coding, const Asked& asked) {
  const http::Compression& policy = *asked.route->compression;
  Coming coming{{original.version, std::string(policy.tagSuffix(coding))},
                root.id,
                original.path,
                outlineOf(original, coding, FileEntry::Origin::kMade, policy),
                http::ResponseHead(200),
                root.server_header,
                {},
                nullptr};
  coming.form->kind = FileEntry::Kind::kBody;
  addContentFields(coming.head, *coming.form);
  addFileFields(coming.head, *coming.form, root);
  asked.route->filterHead(asked.path, coming.head);
  return coming;
}

LoopFiles::Made LoopFiles::findMade(const RootOptions& root, FileEntry& original, http::Coding coding,
                                    const Asked& asked, http::Exchange& exchange,
                                    void (*ready)(http::Exchange&)) {
  if (hasMade(original, coding)) return Made::kHere;
  if ((original.no_made & (1U << static_cast<size_t>(coding))) != 0) return Made::kNone;
  const std::shared_ptr<const http::Compression>& policy = asked.route->compression;
  if (!FileCache::holds(original) || original.size > policy->maxKeptBytes()) return Made::kNotKept;
  const FormKey key{original.version, std::string(policy->tagSuffix(coding))};
  for (Coming& coming : coming_) {
    if (!(coming.key == key) || coming.root_id != root.id || coming.path != original.path) continue;
    coming.waiting.push_back(exchange.handle());
    return Made::kComing;
  }
  FormSource source;
  if (original.kind == FileEntry::Kind::kBody) {
    source.block = original.whole.block();
    source.offset = original.whole.headSize();
  } else {
    source.path = root.folder + original.file_path;
  }
  Coming coming = beginMaking(root, original, coding, asked);
  coming.ready = ready;
  if (shared_.maker->ask(context_.tasks(), loop_.sys(), policy, coding, key, source, link_)) {
    coming.waiting.push_back(exchange.handle());
    coming_.push_back(std::move(coming));
    return Made::kComing;
  }
  if (context_.tasks().hasThreads()) return Made::kNobody;
  // There are none at all: the loop does what they would.
  if (keepForm(coming, FormMaker::make(loop_.sys(), *policy, coding, key, source))) return Made::kHere;
  return Made::kNone;
}

// Keeps the form with its original if that is still what it was made of. False: there is none to keep.
bool LoopFiles::keepForm(Coming& coming, const FormBytes& bytes) {
  FileEntry* original = cache_.find(coming.root_id, coming.path);
  if (original == nullptr || !(original->version == coming.key.version)) return false;
  FileEntry& form = *coming.form;
  form.size = bytes.size();
  if (bytes) form.whole = http::PreparedResponse(coming.head, bytes.view(), coming.server_header);
  if (!bytes || !cache_.fitsBeside(*original, form)) {
    original->no_made = static_cast<uint8_t>(original->no_made | (1U << static_cast<size_t>(form.coding)));
    return false;
  }
  // A sidecar that has come meanwhile is worth more.
  const FileEntry* known = original->forms[static_cast<size_t>(form.coding)];
  if (known != nullptr && known->origin == FileEntry::Origin::kFile) return false;
  cache_.insertForm(*original, std::move(coming.form));
  return true;
}

void LoopFiles::onForm(const FormKey& key, const FormBytes& bytes) noexcept {
  std::vector<Coming> made;
  for (size_t i = 0; i < coming_.size();) {
    if (!(coming_[i].key == key)) {
      ++i;
      continue;
    }
    made.push_back(std::move(coming_[i]));
    coming_.erase(coming_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (Coming& coming : made) {
    keepForm(coming, bytes);
    for (const http::ExchangeHandle& handle : coming.waiting) handle.post(coming.ready);
  }
}

}  // namespace roost::modules::static_files
