#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::respond {

// The module behind "respond" in a route: answers with a status and a text of the configuration.
std::unique_ptr<module::Module> makeRespond();

}  // namespace roost::modules::respond
