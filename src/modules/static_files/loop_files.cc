#include "modules/static_files/loop_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "http/date.h"
#include "log/log.h"

namespace roost::modules::static_files {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

int64_t toNs(const timespec& time) noexcept {
  return int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

// RFC 8615: /.well-known/ is meant to be served; every other name that begins with a dot is nobody's
// business.
bool isHidden(std::string_view path) noexcept {
  constexpr std::string_view kWellKnown = "/.well-known/";
  const size_t from = path.substr(0, kWellKnown.size()) == kWellKnown ? kWellKnown.size() - 1 : 0;
  return path.find("/.", from) != std::string_view::npos;
}

int statusOf(int error) noexcept {
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

std::string_view folderOfPath(std::string_view path) noexcept {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

void addFileFields(http::ResponseHead& head, const FileEntry& entry, const RootOptions& root) {
  char date[http::kHttpDateSize];
  http::formatHttpDate(entry.last_modified_s, date);
  head.add("Last-Modified", {date, sizeof date});
  head.add("ETag", entry.etag.view());
  if (!root.cache_control.empty()) head.add("Cache-Control", root.cache_control);
}

LoopFiles::LoopFiles(http::LoopContext& context, const CacheOptions& options)
    : context_(context),
      loop_(context.loop()),
      options_(options),
      watcher_(loop_, *this),
      cache_(options.max_bytes, options.max_entries, *this) {
  if (!options_.inotify || options_.max_bytes == 0) return;
  const Status status = watcher_.open();
  if (!status.ok()) {
    LOG_WARN("{}; changed files are noticed after {} ms instead of at once", status.message(),
             options_.revalidate_ns / 1'000'000);
  }
}

void LoopFiles::onLeave(FileEntry& entry) noexcept {
  if (entry.watch != nullptr) watcher_.release(std::exchange(entry.watch, nullptr));
  if (entry.link_watch != nullptr) watcher_.release(std::exchange(entry.link_watch, nullptr));
}

void LoopFiles::onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept {
  std::string path(folder);
  path += '/';
  const size_t folder_size = path.size();
  path += name;
  cache_.erase(root_id, path);
  // It may be what answers for its folder.
  cache_.erase(root_id, std::string_view(path).substr(0, folder_size));
}

void LoopFiles::onChangeBelow(uint32_t root_id, std::string_view path) noexcept {
  cache_.eraseBelow(root_id, path);
  cache_.erase(root_id, std::string(folderOfPath(path)) + "/");
}

void LoopFiles::onOverflow() noexcept {
  cache_.clear();
}

RootFolder& LoopFiles::folderOf(const RootOptions& root) {
  RootFolder& folder = folders_.try_emplace(root.id, loop_.sys(), root.folder).first->second;
  if (folder.refresh(loop_.nowNs(), std::max<int64_t>(options_.revalidate_ns, 1)))
    cache_.eraseBelow(root.id, "");
  return folder;
}

LoopFiles::Found LoopFiles::find(const RootOptions& root, std::string_view path, bool may_block) {
  FileEntry* entry = cache_.find(root.id, path);
  if (entry != nullptr && loop_.nowNs() < entry->expires_ns) return {entry, nullptr, false};
  if (entry != nullptr) cache_.erase(*entry);
  return look(root, path, may_block);
}

LoopFiles::Found LoopFiles::look(const RootOptions& root, std::string_view path, bool may_block) {
  Found found;
  found.owned = std::make_unique<FileEntry>();
  FileEntry& entry = *found.owned;
  found.entry = &entry;
  entry.root_id = root.id;
  entry.path = entry.file_path = std::string(path);
  entry.expires_ns = loop_.nowNs() + options_.revalidate_ns;
  if (!root.dot_files && isHidden(path)) return found;
  RootFolder& folder = folderOf(root);
  // Watched first and looked at then, so that no change falls between.
  entry.watch = watcher_.watchFolder(root.id, root.folder, folderOfPath(path));
  bool keepable = true;
  // A file that changes while it is being read is looked at again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    int fd = -1;
    keepable = openFirst(root, folder, entry, fd);
    if (fd < 0 || describe(root, fd, entry, may_block, found.cold)) break;
    entry.status = 503;
    keepable = false;
  }
  if (found.cold || !keepable || !keep(found)) {
    if (found.owned != nullptr) onLeave(entry);
  } else if (folder.isSymlink(found.entry->file_path.c_str() + 1)) {
    found.entry->link_watch = watcher_.watchFile(root.id, root.folder, found.entry->file_path);
  }
  return found;
}

// Opens the path, or for a folder the first of its index files. Without an fd, the entry says why; the result
// is then whether that answer may be kept.
bool LoopFiles::openFirst(const RootOptions& root, RootFolder& folder, FileEntry& entry, int& fd) const {
  entry.kind = FileEntry::Kind::kRefused;
  entry.file_path = entry.path;
  const bool names_folder = entry.path.back() == '/';
  int error = ENOENT;
  if (!names_folder) {
    fd = folder.open(entry.path.c_str() + 1, root.symlinks);
    error = fd < 0 ? -fd : 0;
  }
  for (size_t i = 0; names_folder && i < root.index.size(); ++i) {
    entry.file_path = entry.path + root.index[i];
    fd = folder.open(entry.file_path.c_str() + 1, root.symlinks);
    error = fd < 0 ? -fd : 0;
    if (error != ENOENT) break;
  }
  if (fd >= 0) return true;
  entry.status = statusOf(error);
  if (entry.status >= 500) LOG_EVERY_SECOND(WARN, "{}{}: {}", root.folder, entry.path, errnoText(error));
  if (entry.status == 404 && names_folder) {
    // A folder without an index is there but not shown.
    const std::string name = entry.path.substr(1) + ".";  // a file is no folder, even with a slash behind it
    const int folder_fd = folder.open(name.c_str(), root.symlinks);
    if (folder_fd >= 0) {
      entry.status = 403;
      loop_.sys().closeFd(folder_fd);
    }
  }
  // That something is missing is only remembered where its coming is told.
  return entry.status < 500 && entry.watch != nullptr;
}

// Makes the entry out of the open file. False: it changed meanwhile, try again.
bool LoopFiles::describe(const RootOptions& root, int fd, FileEntry& entry, bool may_block, bool& cold) {
  net::OpenFile file(loop_.sys(), fd);
  struct stat info {};
  const int64_t looked_at_ns = loop_.sys().realtimeNs();
  if (loop_.sys().statFd(fd, &info) < 0) {
    entry.status = 500;
    return true;
  }
  if (S_ISDIR(info.st_mode)) {
    if (entry.path.back() != '/') entry.kind = FileEntry::Kind::kFolder;
    return true;
  }
  if (!S_ISREG(info.st_mode)) {
    entry.status = 404;
    return true;
  }
  const int64_t mtime_ns = toNs(info.st_mtim);
  entry.size = static_cast<uint64_t>(info.st_size);
  entry.last_modified_s = std::min<int64_t>(info.st_mtim.tv_sec, looked_at_ns / kSecondNs);
  entry.etag = http::makeFileEtag(mtime_ns, entry.size, std::max(mtime_ns, toNs(info.st_ctim)), looked_at_ns);
  // A weak tag becomes strong once the file has been still for long enough.
  if (entry.etag.weak) entry.expires_ns = std::min(entry.expires_ns, loop_.nowNs() + http::kStillNs / 2);
  const std::string_view type = root.mime->lookup(entry.file_path);
  entry.content_type = std::string(type);
  if (!root.charset.empty() && http::isText(type)) entry.content_type += "; charset=" + root.charset;
  if (entry.size <= options_.max_file_bytes) return readBody(root, fd, entry, may_block, cold);
  entry.kind = FileEntry::Kind::kFile;
  entry.file = std::move(file);
  return true;
}

bool LoopFiles::readBody(const RootOptions& root, int fd, FileEntry& entry, bool may_block, bool& cold) {
  http::ResponseHead head(200);
  head.add("Content-Type", entry.content_type);
  addFileFields(head, entry, root);
  head.add("Accept-Ranges", "bytes");
  const size_t size = static_cast<size_t>(entry.size);
  entry.whole = http::PreparedResponse(head, size, root.server_header);
  size_t done = 0;
  while (done < size) {
    char* to = entry.whole.mutableBody() + done;
    const auto offset = static_cast<int64_t>(done);
    ssize_t n = may_block ? -EOPNOTSUPP : loop_.sys().readAtNoWait(fd, to, size - done, offset);
    if (n == -EAGAIN) {
      cold = true;
      return true;
    }
    if (n == -EOPNOTSUPP) n = loop_.sys().readAt(fd, to, size - done, offset);
    if (n == -EINTR) continue;
    if (n == 0) return false;  // it has shrunk
    if (n < 0) {
      LOG_EVERY_SECOND(WARN, "{}{}: read: {}", root.folder, entry.file_path, errnoText(static_cast<int>(-n)));
      entry.status = 500;
      return true;
    }
    done += static_cast<size_t>(n);
  }
  entry.kind = FileEntry::Kind::kBody;
  return true;
}

// Moves the entry into the cache where it may be kept.
bool LoopFiles::keep(Found& found) {
  if (options_.revalidate_ns == 0 || !cache_.fits(*found.owned)) return false;
  found.entry = &cache_.insert(std::move(found.owned));
  return true;
}

}  // namespace roost::modules::static_files
