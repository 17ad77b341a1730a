#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::access_log {

// "access_log": a line in a file for each request. README.md says what stands in it.
std::unique_ptr<module::Module> makeAccessLog();

}  // namespace roost::modules::access_log
