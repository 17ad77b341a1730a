#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::cors {

// The module behind "cors": lets pages of other origins read answers (the Fetch standard, "CORS protocol").
std::unique_ptr<module::Module> makeCors();

}  // namespace roost::modules::cors
