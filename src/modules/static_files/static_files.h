#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::static_files {

// The module behind "static" in a route: serves the files of a folder.
std::unique_ptr<module::Module> makeStaticFiles();

}  // namespace roost::modules::static_files
