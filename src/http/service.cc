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

PreparedResponse& ServicePin::overloadPage() {
  if (overload_page_ == nullptr) {
    ResponseHead head(503);
    head.add("Content-Type", kErrorPageType);
    head.addNumber("Retry-After", kRetryAfterS);
    overload_page_ =
        std::make_unique<PreparedResponse>(head, service->errorBody(503), service->options().server_header);
  }
  return *overload_page_;
}

}  // namespace roost::http
