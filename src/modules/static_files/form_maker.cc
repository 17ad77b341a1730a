#include "modules/static_files/form_maker.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "event/task.h"
#include "modules/static_files/file_version.h"

namespace roost::modules::static_files {
namespace {

// The file's content, if it is of that version from the first to the last byte.
bool readVersion(Sys& sys, const std::string& path, const FileVersion& version, std::string& content) {
  const int fd = sys.openAt(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  const auto isVersion = [&] {
    struct stat info {};
    return sys.statFd(fd, &info) >= 0 && versionOf(info) == version;
  };
  bool fine = isVersion();
  if (fine) content.resize(static_cast<size_t>(version.size));
  for (size_t done = 0; fine && done < content.size();) {
    const ssize_t n =
        sys.readAt(fd, content.data() + done, content.size() - done, static_cast<int64_t>(done));
    if (n == -EINTR) continue;
    fine = n > 0;
    if (fine) done += static_cast<size_t>(n);
  }
  fine = fine && isVersion();
  sys.closeFd(fd);
  return fine;
}

}  // namespace

FormBytes FormMaker::make(Sys& sys, const http::Compression& policy, http::Coding coding, const FormKey& key,
                          const FormSource& source) noexcept {
  std::string content;
  std::string_view bytes = source.block.view().substr(source.block ? source.offset : 0);
  if (!source.block) {
    if (!readVersion(sys, source.path, key.version, content)) return {};
    bytes = content;
  }
  std::string out;
  return policy.encode(coding, bytes, out) ? BufferRef::copyOf(out) : FormBytes{};
}

bool FormMaker::ask(event::TaskPool& tasks, Sys& sys, std::shared_ptr<const http::Compression> policy,
                    http::Coding coding, const FormKey& key, FormSource source,
                    std::shared_ptr<FormLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Job& job : jobs_) {
    if (!(job.key == key)) continue;
    job.links.push_back(std::move(link));
    return true;
  }
  std::unique_ptr<event::Task> task = event::makeTask(
      [self = shared_from_this(), &sys, policy = std::move(policy), coding, key, source = std::move(source)] {
        self->tell(key, make(sys, *policy, coding, key, source));
      });
  if (!tasks.submit(task)) return false;
  jobs_.push_back({key, {std::move(link)}});
  return true;
}

// On a task thread.
void FormMaker::tell(const FormKey& key, const FormBytes& bytes) {
  std::vector<std::shared_ptr<FormLink>> links;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto job =
        std::find_if(jobs_.begin(), jobs_.end(), [&key](const Job& each) { return each.key == key; });
    links = std::move(job->links);
    jobs_.erase(job);
  }
  for (const std::shared_ptr<FormLink>& link : links) {
    link->loop->post(event::makeTask([link, key, bytes] {
      if (link->user != nullptr) link->user->onForm(key, bytes);
    }));
  }
}

}  // namespace roost::modules::static_files
