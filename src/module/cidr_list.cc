#include "module/cidr_list.h"

#include "config/config.h"

namespace roost::module {

std::vector<net::Cidr> readCidrs(config::Node list, std::vector<config::Diagnostic>& errors) {
  std::vector<net::Cidr> networks;
  networks.reserve(list.size());
  for (size_t i = 0; i < list.size() && errors.size() < config::kMaxErrors; ++i) {
    auto network = net::Cidr::parse(list.at(i).asString());
    if (network.ok()) {
      networks.push_back(*network);
    } else {
      errors.push_back(config::errorAt(list.at(i), network.status().message()));
    }
  }
  return networks;
}

}  // namespace roost::module
