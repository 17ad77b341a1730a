#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::rewrite {

// The module behind "rewrite": sends requests on to other paths of their site, by regular expressions.
std::unique_ptr<module::Module> makeRewrite();

}  // namespace roost::modules::rewrite
