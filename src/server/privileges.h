#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.h"

namespace roost::server {

// A user that the server becomes once its listeners are open.
struct Identity {
  std::string name;  // of the user, as configured
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary ones
};

// Looks a user and a group up, by name or by number; without a group it is the user's own. A number need not
// be in the system's list of users, but then `group` has to be given. Errors: there is no such user or group.
Result<Identity> findIdentity(const std::string& user, const std::string& group);

// Makes the process, which root has started, `identity`, with its groups alone, without capabilities, and not
// dumpable: another process of the same user can then neither trace it nor read its memory. For ever.
// REQUIRES: there is one thread only; a capability belongs to a thread. Errors: the kernel refuses.
Status becomeUser(const Identity& identity);

// Gives up the capabilities that a process which is not root may have been started with, for ever. REQUIRES:
// one thread only.
Status dropCapabilities();

// No exec of this process can give it rights that it does not have (PR_SET_NO_NEW_PRIVS).
void forbidNewPrivileges() noexcept;

}  // namespace roost::server
