#pragma once

#include <string_view>

namespace roost::modules::mysql {

// Whether the word, in capitals, may stand before a bracket without naming a function of somebody's own: it
// is one of the server's functions, or a keyword. Of MySQL and MariaDB together. None of them sets a
// variable.
bool isBuiltinFunction(std::string_view word) noexcept;

}  // namespace roost::modules::mysql
