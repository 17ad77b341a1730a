#include "http/service.h"

#include <utility>

#include "http/error_page.h"

namespace roost::http {

Service::Service(ServiceOptions options, Router router)
    : options_(std::move(options)), router_(std::move(router)) {
  for (int i = 0; i < kStatuses; ++i) error_bodies_[static_cast<size_t>(i)] = errorPage(kFirstStatus + i);
}

std::string_view Service::errorBody(int status) const noexcept {
  if (!hasErrorBody(status)) return {};
  return error_bodies_[static_cast<size_t>(status - kFirstStatus)];
}

PreparedResponse& ServicePin::errorPage(int status) {
  std::unique_ptr<PreparedResponse>& page = error_pages_[static_cast<size_t>(status - Service::kFirstStatus)];
  if (page == nullptr) {
    ResponseHead head(status);
    const std::string_view body = service->errorBody(status);
    if (!body.empty()) head.add("Content-Type", kErrorPageType);
    page = std::make_unique<PreparedResponse>(head, body, service->options().server_header);
  }
  return *page;
}

}  // namespace roost::http
