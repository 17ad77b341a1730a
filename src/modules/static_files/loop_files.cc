#include "modules/static_files/loop_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "http/date.h"
#include "log/log.h"
#include "net/evictor.h"

namespace roost::modules::static_files {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

bool sameTime(const timespec& a, const timespec& b) noexcept {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// Whether nothing has been written between two looks at the same file. That its name has been given to
// another meanwhile changes st_ctime, but not what was read.
bool isUnchanged(const struct stat& before, const struct stat& after) noexcept {
  return before.st_size == after.st_size && sameTime(before.st_mtim, after.st_mtim);
}

// The folders on the way to a path, the outermost first: "/a" and "/a/b" of "/a/b/c". Only the first few, so
// that a request costs no more for a path that is nothing but slashes.
class FoldersOf {
 public:
  explicit FoldersOf(std::string_view path) noexcept {
    for (size_t slash = path.find('/', 1); slash != std::string_view::npos && count_ < kMost;
         slash = path.find('/', slash + 1)) {
      folders_[count_++] = path.substr(0, slash);
    }
  }
  const std::string_view* begin() const noexcept { return folders_.data(); }
  const std::string_view* end() const noexcept { return folders_.data() + count_; }

 private:
  static constexpr size_t kMost = 8;
  std::array<std::string_view, kMost> folders_;
  size_t count_ = 0;
};

}  // namespace

int statusOfErrno(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:  // a link where none is allowed
    case EXDEV:  // a link that leads out of the folder
    case ENXIO:  // a socket
    case ENODEV:
      return 404;
    case EACCES:
    case EPERM:
      return 403;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return 503;
    default:
      return 500;
  }
}

void addFileFields(http::ResponseHead& head, const FileEntry& entry, const RootOptions& root) {
  char date[http::kHttpDateSize];
  http::formatHttpDate(entry.last_modified_s, date);
  head.add("Last-Modified", {date, sizeof date});
  head.add("ETag", entry.etag.view());
  if (!root.cache_control.empty()) head.add("Cache-Control", root.cache_control);
  if (entry.varies) head.add("Vary", "Accept-Encoding");
}

void addContentFields(http::ResponseHead& head, const FileEntry& entry) {
  head.add("Content-Type", entry.content_type);
  if (entry.coding != http::Coding::kIdentity && entry.origin != FileEntry::Origin::kStreamed)
    head.add("Content-Encoding", http::codingName(entry.coding));
}

bool isSidecar(const RootOptions& root, std::string_view path) noexcept {
  for (const http::Coding coding : root.precompressed) {
    const std::string_view suffix = http::codingSuffix(coding);
    if (path.size() > suffix.size() && path.substr(path.size() - suffix.size()) == suffix) return true;
  }
  return false;
}

LoopFiles::LoopFiles(http::LoopContext& context, const CacheOptions& options, SharedFiles shared)
    : context_(context),
      loop_(context.loop()),
      options_(options),
      watcher_(loop_, *this),
      cache_(options.max_bytes, options.max_entries, *this),
      shared_(std::move(shared)),
      link_(std::make_shared<FormLink>(FormLink{&loop_, this})) {
  shared_.news->join(this, loop_, [this](uint32_t root_id) { onRootMoved(root_id); });
  if (!options_.inotify || !keeps()) return;
  const Status status = watcher_.open();
  if (!status.ok()) {
    LOG_WARN("{}; changed files are noticed after {} ms instead of at once", status.message(),
             options_.revalidate_ns / 1'000'000);
  }
}

LoopFiles::~LoopFiles() {
  shared_.news->leave(this);
  link_->user = nullptr;
}

void LoopFiles::onLeave(FileEntry& entry) noexcept {
  if (entry.watch != nullptr) watcher_.release(std::exchange(entry.watch, nullptr));
  if (entry.file_watch != nullptr) watcher_.release(std::exchange(entry.file_watch, nullptr));
}

void LoopFiles::onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept {
  std::string path(folder);
  path += '/';
  const size_t folder_size = path.size();
  path += name;
  cache_.erase(root_id, path);
  // It may be what answers for its folder.
  cache_.erase(root_id, std::string_view(path).substr(0, folder_size));
  // Or a coded form of the file whose name it continues.
  for (const http::Coding coding : http::kCodings) {
    const std::string_view suffix = http::codingSuffix(coding);
    if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) continue;
    cache_.erase(root_id, std::string_view(path).substr(0, path.size() - suffix.size()));
  }
}

void LoopFiles::onChangeBelow(uint32_t root_id, std::string_view path) noexcept {
  cache_.eraseBelow(root_id, path);
  if (!path.empty()) {
    cache_.erase(root_id, std::string(folderOfPath(path)) + "/");
    return;
  }
  const auto root = folders_.find(root_id);
  if (root != folders_.end()) root->second.folder.expire();
}

void LoopFiles::onOverflow() noexcept {
  LOG_EVERY_SECOND(WARN, "too many files change at once: the cache of loop {} starts anew", loop_.index());
  cache_.clear();
  for (auto& [id, held] : folders_) held.folder.expire();
}

// RFC 8615: /.well-known/ is meant to be served; every other name that begins with a dot is nobody's
// business.
bool LoopFiles::isHidden(std::string_view path) noexcept {
  constexpr std::string_view kWellKnown = "/.well-known/";
  const size_t from = path.substr(0, kWellKnown.size()) == kWellKnown ? kWellKnown.size() - 1 : 0;
  return path.find("/.", from) != std::string_view::npos;
}

// What is known to be missing (or to be no folder) on the way to `path`: then nothing is there either.
FileEntry* LoopFiles::missingAbove(const RootOptions& root, std::string_view path) noexcept {
  if (!watcher_.working()) return nullptr;
  for (const std::string_view folder : FoldersOf(path)) {
    FileEntry* entry = cache_.find(root.id, folder);
    if (entry == nullptr || entry->kind != FileEntry::Kind::kRefused || entry->status != 404) continue;
    if (loop_.nowNs() < entry->expires_ns) return entry;
  }
  return nullptr;
}

// Nothing can be watched in a folder that is not there, but in the one above where it is missing: that
// answers for everything below, however many names are tried there.
void LoopFiles::learnMissing(const RootOptions& root, std::string_view path, bool may_block) {
  for (const std::string_view folder : FoldersOf(path)) {
    const Found found = look(root, folder, may_block, {}, false);
    if (found.cold || found.entry->kind == FileEntry::Kind::kRefused) return;
  }
}

LoopFiles::Found LoopFiles::look(const RootOptions& root, std::string_view path, bool may_block,
                                 const Asked& asked, bool may_learn) {
  Found found;
  found.owned = std::make_unique<FileEntry>();
  FileEntry& entry = *found.owned;
  found.entry = &entry;
  entry.root_id = root.id;
  entry.path = std::string(path);
  entry.expires_ns = loop_.nowNs() + options_.revalidate_ns;
  HeldFolder& held = heldFolder(root);
  Look look{root, held.folder, entry, may_block, asked};
  found.cold = !settle(root.id, held, may_block) || isFolderCold(look);
  if (found.cold) return found;
  // Watched first and looked at then, so that no change falls between.
  entry.watch = watcher_.watchFolder(root.id, root.folder, folderOfPath(path));
  bool keepable = true;
  // A file that changes while it is being read is looked at again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    int fd = -1;
    keepable = openFirst(look, fd);
    if (fd < 0 || describe(look, fd)) break;
    entry.kind = FileEntry::Kind::kRefused;
    entry.status = 503;
    keepable = false;
  }
  found.cold = look.cold;
  // A link may lead where the policy forbids to go: what lies there is not watched for ever.
  if (look.linked && entry.kind == FileEntry::Kind::kRefused) keepable = false;
  if (found.cold || !keepable || entry.status >= 500 || !keep(found)) {
    const bool folder_missing =
        may_learn && !found.cold && entry.status == 404 && entry.watch == nullptr && watcher_.working();
    onLeave(entry);
    if (entry.status == 503 && !found.cold) {
      // Out of descriptors or memory: what was known has not been told to have changed, and is better than
      // nothing.
      if (FileEntry* known = cache_.find(root.id, path)) {
        known->expires_ns = loop_.nowNs() + kSecondNs;
        return {known, nullptr, false};
      }
    }
    cache_.erase(root.id, path);  // what was known before
    if (folder_missing) learnMissing(root, path, may_block);
  }
  return found;
}

// Whether the folder of a path would have to be waited for in order to watch it.
bool LoopFiles::isFolderCold(Look& look) {
  if (mayWait(look.may_block) || !watcher_.working()) return false;
  const std::string folder(folderOfPath(look.entry.path));
  if (watcher_.watches(look.root.id, folder)) return false;
  const int fd =
      look.folder.open(folder.empty() ? "" : folder.c_str() + 1, look.root.symlinks, false, look.linked);
  if (fd >= 0) loop_.sys().closeFd(fd);
  return fd == -EAGAIN;
}

// Opens the path, or for a folder the first of its index files. Without an fd, the entry says why; the result
// is then whether that answer may be kept.
bool LoopFiles::openFirst(Look& look, int& fd) {
  FileEntry& entry = look.entry;
  entry.kind = FileEntry::Kind::kRefused;
  entry.file_path = entry.path;
  const bool names_folder = entry.path.back() == '/';
  int error = ENOENT;
  if (!names_folder) {
    fd = openFile(look, entry.path);
    error = fd < 0 ? -fd : 0;
  }
  for (size_t i = 0; names_folder && i < look.root.index.size(); ++i) {
    entry.file_path = entry.path + look.root.index[i];
    fd = openFile(look, entry.file_path);
    error = fd < 0 ? -fd : 0;
    if (error != ENOENT) break;
  }
  if (fd >= 0 || look.cold) return true;
  entry.status = statusOfErrno(error);
  // What an operator would look for: no permission, a link where the policy forbids it, trouble of the
  // machine's own. A link that leaves the root has been told of (RootFolder).
  if (error == ELOOP && look.root.symlinks == SymlinkPolicy::kNone) {
    LOG_EVERY_SECOND(WARN, "symbolic link refused path={}{}; answered 404, since \"symlinks\" is \"none\"",
                     look.root.folder, entry.path);
  } else if (entry.status != 404 || error == ELOOP) {
    LOG_EVERY_SECOND(WARN, "{}{}: {}", look.root.folder, entry.path, errnoText(error));
  }
  // A folder without an index is there but not shown, unless its content may be.
  if (error == ENOENT && names_folder && isFolder(look)) {
    entry.status = look.root.listing.enabled ? 200 : 403;
    if (look.root.listing.enabled) entry.kind = FileEntry::Kind::kListing;
  }
  // That something is missing is only remembered where its coming is told.
  return entry.watch != nullptr;
}

// An fd or -errno. `path` begins with '/'. Sets look.cold where it would have to be waited for.
int LoopFiles::openFile(Look& look, const std::string& path) {
  const bool may_wait = mayWait(look.may_block);
  const auto open = [&] {
    return look.folder.open(path.c_str() + 1, look.root.symlinks, may_wait, look.linked);
  };
  int fd = open();
  // Better to open files anew than to refuse them, and better to close a connection that nobody uses.
  net::Evictor* const evictor = context_.io().evictor();
  if ((fd == -EMFILE || fd == -ENFILE) &&
      (cache_.eraseOpenFiles() || (evictor != nullptr && evictor->evictIdle().closed > 0))) {
    look.folder.refresh(loop_.nowNs(), std::max<int64_t>(options_.revalidate_ns, 1), may_wait);
    fd = open();
  }
  if (fd == -EAGAIN && !may_wait) look.cold = true;
  return fd;
}

// Whether a path that ends with a slash is that of a folder.
bool LoopFiles::isFolder(Look& look) {
  const std::string& path = look.entry.path;
  const int fd = openFile(look, path.size() > 1 ? path.substr(0, path.size() - 1) : path);
  if (fd < 0) return false;
  loop_.sys().closeFd(fd);
  return true;
}

// Makes the entry out of the open file. False: it changed meanwhile, try again.
bool LoopFiles::describe(Look& look, int fd) {
  const RootOptions& root = look.root;
  FileEntry& entry = look.entry;
  net::OpenFile file(loop_.sys(), fd);
  struct stat info {};
  const int64_t looked_at_ns = loop_.sys().realtimeNs();
  if (loop_.sys().statFd(fd, &info) < 0) {
    entry.status = 500;
    return true;
  }
  entry.status = 404;
  if (S_ISDIR(info.st_mode)) {
    if (entry.path.back() != '/') entry.kind = FileEntry::Kind::kFolder;
    return true;
  }
  if (!S_ISREG(info.st_mode)) return true;
  watchItself(look, info);
  const int64_t mtime_ns = toNs(info.st_mtim);
  entry.size = static_cast<uint64_t>(info.st_size);
  entry.version = versionOf(info);
  entry.last_modified_s = std::min<int64_t>(info.st_mtim.tv_sec, looked_at_ns / kSecondNs);
  entry.etag = http::makeFileEtag(mtime_ns, entry.size, std::max(mtime_ns, toNs(info.st_ctim)), looked_at_ns);
  // A weak tag becomes strong once the file has been still for long enough.
  if (entry.etag.weak) entry.expires_ns = std::min(entry.expires_ns, loop_.nowNs() + http::kStillNs / 2);
  const std::string_view suffix = http::codingSuffix(look.coding);
  if (!suffix.empty()) entry.etag = http::withSuffix(entry.etag, suffix.substr(1), false);
  const std::string_view type =
      root.mime->lookup(std::string_view(entry.file_path).substr(0, entry.file_path.size() - suffix.size()));
  entry.content_type = std::string(type);
  if (!root.charset.empty() && http::isText(type)) entry.content_type += "; charset=" + root.charset;
  entry.worth_coding = isWorthCoding(look);
  entry.varies = entry.worth_coding || look.coding != http::Coding::kIdentity ||
                 (root.precompressed.count > 0 && !isSidecar(root, entry.file_path));
  const bool is_body = entry.size <= options_.max_file_bytes;
  if (is_body && !readBody(look, fd)) return false;
  if (look.cold || entry.status >= 500) return true;
  struct stat now {};
  if (is_body || entry.file_watch != nullptr) {
    if (loop_.sys().statFd(fd, &now) < 0 || !isUnchanged(info, now)) return false;
  }
  entry.kind = is_body ? FileEntry::Kind::kBody : FileEntry::Kind::kFile;
  if (!is_body) entry.file = std::move(file);
  return true;
}

bool LoopFiles::isWorthCoding(const Look& look) const {
  if (look.coding != http::Coding::kIdentity || look.asked.route == nullptr) return false;
  const http::Compression* compression = look.asked.route->compression.get();
  const FileEntry& entry = look.entry;
  if (compression == nullptr || !compression->applies(entry.content_type, static_cast<int64_t>(entry.size)))
    return false;
  http::ResponseHead head(200);
  addContentFields(head, entry);
  addFileFields(head, entry, look.root);
  look.asked.route->filterHead(look.asked.path, head);
  return !head.has("Content-Encoding") && !http::hasCacheDirective(head, "no-transform");
}

// A change made under another name, a link's target or a hard link, is not told to the folder's watch.
void LoopFiles::watchItself(Look& look, const struct stat& info) {
  FileEntry& entry = look.entry;
  if (entry.file_watch != nullptr) watcher_.release(std::exchange(entry.file_watch, nullptr));
  if (entry.watch == nullptr) return;
  if (info.st_nlink < 2 && !(look.linked && look.folder.isSymlink(entry.file_path.c_str() + 1))) return;
  entry.file_watch = watcher_.watchFile(look.root.id, look.root.folder, entry.file_path);
}

// Reads the file into a ready-made answer. False: it has shrunk.
bool LoopFiles::readBody(Look& look, int fd) {
  FileEntry& entry = look.entry;
  http::ResponseHead head(200);
  addContentFields(head, entry);
  addFileFields(head, entry, look.root);
  if (look.root.max_ranges > 0 && entry.origin == FileEntry::Origin::kFile)
    head.add("Accept-Ranges", "bytes");
  if (look.asked.route != nullptr) look.asked.route->filterHead(look.asked.path, head);
  const size_t size = static_cast<size_t>(entry.size);
  entry.whole = http::PreparedResponse(head, size, look.root.server_header);
  Sys& sys = loop_.sys();
  for (size_t done = 0; done < size;) {
    char* to = entry.whole.mutableBody() + done;
    const auto offset = static_cast<int64_t>(done);
    ssize_t n = look.may_block ? -EOPNOTSUPP : sys.readAtNoWait(fd, to, size - done, offset);
    if (n == -EAGAIN) {
      look.cold = true;
      return true;
    }
    // Some file systems cannot read without waiting; what else was wrong is wrong again.
    if (n < 0 && n != -EINTR) n = sys.readAt(fd, to, size - done, offset);
    if (n == -EINTR) continue;
    if (n == 0) return false;
    if (n < 0) {
      LOG_EVERY_SECOND(WARN, "{}{}: read: {}", look.root.folder, entry.file_path,
                       errnoText(static_cast<int>(-n)));
      entry.status = 500;
      return true;
    }
    done += static_cast<size_t>(n);
  }
  return true;
}

// Moves the entry into the cache where it may be kept.
bool LoopFiles::keep(Found& found) {
  if (!keeps() || !cache_.fits(*found.owned)) return false;
  FileEntry* known = cache_.find(found.owned->root_id, found.owned->path);
  if (known != nullptr && known->version == found.owned->version && !known->etag.weak &&
      !found.owned->etag.weak)
    FileCache::moveMadeForms(*known, *found.owned);
  found.entry = &cache_.insert(std::move(found.owned));
  return true;
}

}  // namespace roost::modules::static_files
