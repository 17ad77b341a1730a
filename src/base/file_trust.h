#pragma once

#include <string>

namespace roost {

// Who may change a file that decides what the server does or whom it lets in, beside root and its owner:
// "every user", or, where the process has given up root, "the server's own user". Empty: nobody, or there is
// no such file. Any thread.
std::string whoMayChange(const char* path, bool gave_up_root);

}  // namespace roost
