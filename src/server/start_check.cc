#include "server/start_check.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "log/log.h"
#include "net/listener.h"
#include "server/pid_file.h"

namespace roost::server {
namespace {

// Whether a file could be made here.
Status checkFolderOf(const std::string& path, const std::string& what) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Status::fromErrno(errno, fmt::format("cannot make {} {}", what, path));
}

Status checkPidFile(const std::string& path) {
  struct stat info {};
  if (path.empty()) return {};
  if (::lstat(path.c_str(), &info) != 0) return checkFolderOf(path, "pid_file");
  if (!S_ISREG(info.st_mode)) return Status::error(fmt::format("pid_file {} is no plain file", path));
  if (::access(path.c_str(), W_OK) == 0) return {};
  return Status::fromErrno(errno, fmt::format("cannot open pid_file {}", path));
}

// A Unix socket's file comes with binding it, so only its place is looked at.
Status checkListener(const net::ListenOptions& options, Sys& sys) {
  const net::SocketAddress& address = options.address;
  if (address.family() != AF_UNIX) return net::Listener::probe(sys, options);
  if (address.isAbstract()) return {};
  const std::string path(address.unixPath());
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode))
    return Status::error(
        fmt::format("cannot listen on {}: it exists and is not a socket", address.toString()));
  return checkFolderOf(path, "the socket");
}

}  // namespace

StartCheck checkStart(const ServerConfig& config, Sys& sys) {
  StartCheck check;
  const auto add = [&check](const Status& status) {
    if (!status.ok()) check.problems.push_back(status.message());
  };
  if (!config.log.directory.empty())
    add(log::checkFile(config.log.directory + "/" + config.log.base_name + ".log"));
  add(checkPidFile(config.pid_file));
  const bool serves_now = !config.pid_file.empty() && PidFile::isHeld(config.pid_file);
  for (const net::ListenOptions& listener : config.listeners) {
    const Status status = checkListener(listener, sys);
    if (status.sysErrno() != EADDRINUSE) {
      add(status);
    } else if (!serves_now) {
      check.notes.push_back(status.message() + "; a start needs it to be free");
    }
  }
  return check;
}

}  // namespace roost::server
