#pragma once

#include <string>
#include <vector>

#include "base/sys.h"
#include "server/server_config.h"

namespace roost::server {

// What would keep a server from starting although its configuration is in order.
struct StartCheck {
  std::vector<std::string> problems;
  std::vector<std::string> notes;  // what may be gone by then: an address that is in use now
};

// Looks whether a start would get what it needs of the system: log files, the pid file, the listeners'
// addresses. Makes and changes nothing. An address in use is not mentioned where another server has the pid
// file locked: that is the one to be replaced. Main thread.
StartCheck checkStart(const ServerConfig& config, Sys& sys);

}  // namespace roost::server
