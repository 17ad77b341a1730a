#include "server/privileges.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

namespace roost::server {
namespace {

// A user or group by number.
std::optional<uint32_t> numberOf(const std::string& text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number == UINT32_MAX) return std::nullopt;
  return number;
}

Result<gid_t> findGroup(const std::string& name) {
  errno = 0;
  if (const group* entry = ::getgrnam(name.c_str())) return entry->gr_gid;
  const int error = errno;
  if (const auto number = numberOf(name)) return gid_t{*number};
  return Status::error(fmt::format("there is no group \"{}\"{}", name,
                                   error == EACCES || error == EIO ? " (the list cannot be read)" : ""));
}

std::vector<gid_t> groupsOf(const char* name, gid_t gid) {
  int count = 32;
  for (;;) {
    std::vector<gid_t> groups(static_cast<size_t>(count));
    const int given = count;
    if (::getgrouplist(name, gid, groups.data(), &count) >= 0) {
      groups.resize(static_cast<size_t>(count));
      return groups;
    }
    if (count <= given) return {gid};
  }
}

Status refused(const char* what, const Identity& identity) {
  return Status::fromErrno(errno, fmt::format("cannot become user {}: {}", identity.name, what));
}

}  // namespace

Result<Identity> findIdentity(const std::string& user, const std::string& group) {
  Identity identity;
  identity.name = user;
  const auto number = numberOf(user);
  const passwd* entry = ::getpwnam(user.c_str());
  if (entry == nullptr && number) entry = ::getpwuid(*number);
  if (entry == nullptr && !number) return Status::error(fmt::format("there is no user \"{}\"", user));
  if (entry == nullptr && group.empty()) {
    return Status::error(
        fmt::format("user {} is in no list, so its group is not known: write \"group\"", user));
  }
  const std::string name = entry != nullptr ? entry->pw_name : "";
  identity.uid = entry != nullptr ? entry->pw_uid : *number;
  identity.gid = entry != nullptr ? entry->pw_gid : 0;
  if (!group.empty()) {
    auto found = findGroup(group);
    if (!found.ok()) return found.status();
    identity.gid = *found;
  }
  identity.groups = name.empty() ? std::vector<gid_t>{identity.gid} : groupsOf(name.c_str(), identity.gid);
  return identity;
}

Status becomeUser(const Identity& identity) {
  // The bounding set first: it takes a capability.
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability);
  if (::setgroups(identity.groups.size(), identity.groups.data()) != 0) return refused("setgroups", identity);
  if (::setresgid(identity.gid, identity.gid, identity.gid) != 0) return refused("setresgid", identity);
  if (::setresuid(identity.uid, identity.uid, identity.uid) != 0) return refused("setresuid", identity);
  Status status = dropCapabilities();
  if (!status.ok()) return status;
  ::prctl(PR_SET_DUMPABLE, 0UL);
  if (::setresuid(0, 0, 0) == 0) return Status::error("cannot become user " + identity.name + " for good");
  return {};
}

Status dropCapabilities() {
  ::prctl(PR_CAP_AMBIENT, static_cast<unsigned long>(PR_CAP_AMBIENT_CLEAR_ALL), 0UL, 0UL, 0UL);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0)
    return Status::fromErrno(errno, "cannot give up capabilities");
  return {};
}

void forbidNewPrivileges() noexcept {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace roost::server
