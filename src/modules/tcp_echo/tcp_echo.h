#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::tcp_echo {

// The module behind "tcp_echo" in an entry of `listen`: sends every byte back.
std::unique_ptr<module::Module> makeTcpEcho();

}  // namespace roost::modules::tcp_echo
