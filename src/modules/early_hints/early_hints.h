#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::early_hints {

// The module behind "early_hints": 103 answers with Link fields (RFC 8297) before the handler is asked.
std::unique_ptr<module::Module> makeEarlyHints();

}  // namespace roost::modules::early_hints
