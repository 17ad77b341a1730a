#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::cache_control {

// The module behind "cache_control": how long answers may be kept, by path, extension or media type.
std::unique_ptr<module::Module> makeCacheControl();

}  // namespace roost::modules::cache_control
