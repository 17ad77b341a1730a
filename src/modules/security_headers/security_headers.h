#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::security_headers {

// The module behind "security_headers": presets of the fields that tell a browser to be careful.
std::unique_ptr<module::Module> makeSecurityHeaders();

}  // namespace roost::modules::security_headers
