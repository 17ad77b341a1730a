#pragma once

#include <string>
#include <string_view>

namespace roost {

// Appends what a name or value of application/x-www-form-urlencoded stands for: '+' is a space, "%41" an A.
// False: a '%' without two hexadecimal digits behind it.
bool appendFormDecoded(std::string_view sent, std::string& out);

}  // namespace roost
