#include "base/status.h"

#include <cstring>

#include "base/errno_text.h"

namespace roost {

Status::Status(const Status& other) : rep_(other.rep_ ? new Rep(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_.reset(other.rep_ ? new Rep(*other.rep_) : nullptr);
  return *this;
}

Status Status::fromErrno(int sys_errno, std::string_view context) {
  std::string message(context);
  message += ": ";
  message += errnoText(sys_errno);
  return Status(std::move(message), sys_errno);
}

const std::string& Status::message() const noexcept {
  static const std::string kNone;
  return rep_ ? rep_->message : kNone;
}

}  // namespace roost
