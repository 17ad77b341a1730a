#include "http/service.h"

#include <utility>

#include "http/error_page.h"

namespace roost::http {

Service::Service(ServiceOptions options, Router router)
    : options_(std::move(options)), router_(std::move(router)) {
  for (int i = 0; i < kStatuses; ++i) error_bodies_[static_cast<size_t>(i)] = errorPage(kFirstStatus + i);
}

std::string_view Service::errorBody(int status) const noexcept {
  if (status < kFirstStatus || status >= kFirstStatus + kStatuses) return {};
  return error_bodies_[static_cast<size_t>(status - kFirstStatus)];
}

}  // namespace roost::http
