#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::headers {

// The module behind "headers": sets, appends and removes fields of answers.
std::unique_ptr<module::Module> makeHeaders();

}  // namespace roost::modules::headers
