#pragma once

#include <memory>
#include <vector>

#include "module/module.h"

namespace roost::modules::mysql {

// The modules behind "mysql_rest" (tables as resources) in a route. They share what they know of the server.
std::vector<std::unique_ptr<module::Module>> makeMysql();

}  // namespace roost::modules::mysql
