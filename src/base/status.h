// Status and Result: how an expected failure is told. Broken invariants assert instead; nothing here throws.
#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace roost {

// Success, or an error with a message for people and, where the system said no, its errno.
// Success is one null pointer, so returning it costs nothing.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  Status(const Status& other);
  Status& operator=(const Status& other);
  ~Status() = default;

  static Status okStatus() noexcept { return {}; }
  static Status error(std::string message) { return Status(std::move(message), 0); }
  // "context: strerror(sys_errno)".
  static Status fromErrno(int sys_errno, std::string_view context);

  bool ok() const noexcept { return rep_ == nullptr; }
  int sysErrno() const noexcept { return rep_ ? rep_->sys_errno : 0; }  // 0: not a system failure
  const std::string& message() const noexcept;                          // empty when ok

 private:
  struct Rep {
    std::string message;
    int sys_errno;
  };
  Status(std::string message, int sys_errno) : rep_(new Rep{std::move(message), sys_errno}) {}
  std::unique_ptr<Rep> rep_;
};

// A T, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}        // NOLINT: implicit on purpose
  Result(Status status) : value_(std::in_place_index<1>, std::move(status)) {  // NOLINT
    assert(!std::get<1>(value_).ok());
  }
  bool ok() const noexcept { return value_.index() == 0; }
  const Status& status() const noexcept {
    static const Status kOk;
    return ok() ? kOk : std::get<1>(value_);
  }
  T& value() & noexcept { return std::get<0>(value_); }  // REQUIRES: ok()
  const T& value() const& noexcept { return std::get<0>(value_); }
  T&& value() && noexcept { return std::get<0>(std::move(value_)); }
  T& operator*() & noexcept { return value(); }
  const T& operator*() const& noexcept { return value(); }
  T* operator->() noexcept { return &value(); }
  const T* operator->() const noexcept { return &value(); }

 private:
  std::variant<T, Status> value_;
};

}  // namespace roost
