#include "db/options.h"

namespace roost::db {

std::string Target::label() const {
  if (!unix_socket.empty()) return unix_socket;
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]:" : host + ":") + std::to_string(port);
}

}  // namespace roost::db
