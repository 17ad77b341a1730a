#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::error_pages {

// The module behind "error_pages": pages of the site's own in place of the built-in ones.
std::unique_ptr<module::Module> makeErrorPages();

}  // namespace roost::modules::error_pages
