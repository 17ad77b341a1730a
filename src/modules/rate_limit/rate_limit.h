#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::rate_limit {

// "rate_limit" in a route, a site or `http`: so many requests of one client in a time.
std::unique_ptr<module::Module> makeRateLimit();

}  // namespace roost::modules::rate_limit
