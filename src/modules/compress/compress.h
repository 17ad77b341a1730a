#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::compress {

// Codes answers (RFC 9110 section 8.4). Key "compress"; may stand in a site and in `http` too.
std::unique_ptr<module::Module> makeCompress();

}  // namespace roost::modules::compress
