#pragma once

#include <string>
#include <vector>

#include "config/node.h"
#include "net/cidr.h"

namespace roost::module {

// The networks in a list of a configuration; what is none becomes an error at its place. Main thread.
std::vector<net::Cidr> readCidrs(config::Node list, std::vector<config::Diagnostic>& errors);

}  // namespace roost::module
