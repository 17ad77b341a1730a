// The keys of other servers, for who comes from there. For this folder and its tests.
#pragma once

#include <string>
#include <string_view>

namespace roost::config {

// What an unknown key means that nginx or Caddy knows: ": that is \"host\" in an entry of http.sites". Empty:
// it is none of theirs.
std::string foreignHint(std::string_view key);

}  // namespace roost::config
