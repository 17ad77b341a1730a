#include "net/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace roost::net {
namespace {

// Whether the file where a Unix socket is to be is something else.
bool isOtherFile(const SocketAddress& address) {
  if (address.family() != AF_UNIX || address.isAbstract()) return false;
  struct stat info {};
  return ::lstat(std::string(address.unixPath()).c_str(), &info) == 0 && !S_ISSOCK(info.st_mode);
}

Status explained(int error, const SocketAddress& address) {
  const std::string where = "cannot listen on " + address.toString();
  switch (error) {
    case EADDRINUSE:
      if (isOtherFile(address)) return Status::fromErrno(error, where + " (it exists and is not a socket)");
      return Status::fromErrno(error, where + " (another process listens there)");
    case EACCES:
      if (address.family() == AF_UNIX) return Status::fromErrno(error, where);
      return Status::fromErrno(error, where + " (ports below 1024 need root or CAP_NET_BIND_SERVICE)");
    case EADDRNOTAVAIL:
      return Status::fromErrno(error, where + " (no interface has this address)");
    default:
      return Status::fromErrno(error, where);
  }
}

// Removes the file of a Unix socket that nobody listens on any more; leaves everything else alone.
void removeStaleSocket(Sys& sys, const SocketAddress& address) {
  const std::string path(address.unixPath());
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  const int probe = sys.socketCreate(AF_UNIX, SOCK_STREAM, 0);
  if (probe < 0) return;
  if (sys.connectTo(probe, address.get(), address.size()) == -ECONNREFUSED) ::unlink(path.c_str());
  sys.closeFd(probe);
}

Status setFlag(Sys& sys, int fd, int level, int name, int value, const char* what) {
  const int rc = sys.setSockOpt(fd, level, name, &value, sizeof value);
  return rc < 0 ? Status::fromErrno(-rc, what) : Status{};
}

}  // namespace

Listener::Listener(Listener&& other) noexcept
    : sys_(other.sys_),
      fd_(std::exchange(other.fd_, -1)),
      address_(other.address_),
      unlink_path_(std::exchange(other.unlink_path_, {})),
      file_dev_(other.file_dev_),
      file_ino_(other.file_ino_) {}

// The file goes before the socket: while somebody answers behind it, no successor takes its place.
Listener::~Listener() {
  removeFile();
  if (fd_ >= 0) sys_->closeFd(fd_);
}

// Names the file that bind has made as this socket's own.
Status Listener::ownFile(mode_t mode) {
  unlink_path_ = std::string(address_.unixPath());
  struct stat info {};
  if (::lstat(unlink_path_.c_str(), &info) != 0 || ::chmod(unlink_path_.c_str(), mode) != 0) {
    return explained(errno, address_);
  }
  file_dev_ = info.st_dev;
  file_ino_ = info.st_ino;
  return {};
}

// One that somebody else has put there meanwhile stays.
void Listener::removeFile() noexcept {
  struct stat info {};
  if (unlink_path_.empty() || ::lstat(unlink_path_.c_str(), &info) != 0) return;
  if (info.st_dev == file_dev_ && info.st_ino == file_ino_) ::unlink(unlink_path_.c_str());
}

Status Listener::configure(const ListenOptions& options) {
  if (address_.family() == AF_UNIX) return {};
  Status status = setFlag(*sys_, fd_, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  if (status.ok() && options.reuse_port)
    status = setFlag(*sys_, fd_, SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT");
  if (status.ok() && address_.family() == AF_INET6) {
    status = setFlag(*sys_, fd_, IPPROTO_IPV6, IPV6_V6ONLY, options.ipv6_only ? 1 : 0, "IPV6_V6ONLY");
  }
  if (status.ok() && options.tcp_nodelay)
    status = setFlag(*sys_, fd_, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  if (status.ok() && options.defer_accept_s > 0) {
    status = setFlag(*sys_, fd_, IPPROTO_TCP, TCP_DEFER_ACCEPT, options.defer_accept_s, "TCP_DEFER_ACCEPT");
  }
  return status;
}

Status Listener::probe(Sys& sys, const ListenOptions& options) {
  const SocketAddress& wanted = options.address;
  const int fd = sys.socketCreate(wanted.family(), SOCK_STREAM, 0);
  if (fd < 0) return explained(-fd, wanted);
  Listener alone(sys, fd, wanted);
  ListenOptions unshared = options;
  unshared.reuse_port = false;
  Status status = alone.configure(unshared);
  if (!status.ok()) return status;
  const int rc = sys.bindTo(fd, wanted.get(), wanted.size());
  return rc < 0 ? explained(-rc, wanted) : Status{};
}

Result<Listener> Listener::open(Sys& sys, const ListenOptions& options) {
  const SocketAddress& wanted = options.address;
  const int fd = sys.socketCreate(wanted.family(), SOCK_STREAM, 0);
  if (fd < 0) return explained(-fd, wanted);
  Listener listener(sys, fd, wanted);
  Status status = listener.configure(options);
  if (!status.ok()) return status;
  const bool has_file = wanted.family() == AF_UNIX && !wanted.isAbstract();
  if (has_file) removeStaleSocket(sys, wanted);
  int rc = sys.bindTo(fd, wanted.get(), wanted.size());
  if (rc < 0) return explained(-rc, wanted);
  if (has_file) {
    status = listener.ownFile(options.unix_mode);
    if (!status.ok()) return status;
  }
  rc = sys.listenOn(fd, options.backlog);
  if (rc < 0) return explained(-rc, wanted);
  if (wanted.family() != AF_UNIX) {
    sockaddr_storage bound{};
    socklen_t len = sizeof bound;
    if (sys.getSockName(fd, reinterpret_cast<sockaddr*>(&bound), &len) >= 0) {
      listener.address_ = SocketAddress(reinterpret_cast<sockaddr*>(&bound), len);
    }
  }
  return listener;
}

}  // namespace roost::net
