#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::basic_auth {

// The module behind "basic_auth" in a route, a site or `http`: asks for a name and a password (RFC 7617).
std::unique_ptr<module::Module> makeBasicAuth();

}  // namespace roost::modules::basic_auth
