#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::redirect {

// The module behind "redirect" in a route: answers with a Location (RFC 9110 section 15.4).
std::unique_ptr<module::Module> makeRedirect();

}  // namespace roost::modules::redirect
