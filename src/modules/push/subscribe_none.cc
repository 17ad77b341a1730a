#include "modules/push/subscribe.h"

namespace roost::modules::push {

class AddressPlaces {};

Result<SubscribeOptions> SubscribeOptions::fromConfig(config::Node, const std::string&,
                                                      const std::vector<std::string>&) {
  return Status::error("subscribing is not part of this version yet");
}

Result<std::unique_ptr<const http::Handler>> makeSubscribeHandler(SubscribeOptions, const SubscribeContext&) {
  return Status::error("subscribing is not part of this version yet");
}

std::shared_ptr<AddressPlaces> makeAddressPlaces(uint32_t) {
  return nullptr;
}

}  // namespace roost::modules::push
