#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace roost::modules::basic_auth {

// Text that is overwritten when it is not needed any more. Neither copied nor moved, as either would leave
// bytes behind.
class Secret {
 public:
  explicit Secret(std::string_view text) : text_(text) {}
  ~Secret() { ::explicit_bzero(text_.data(), text_.size()); }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// Room for what Authorization decodes to, overwritten likewise.
struct SecretRoom {
  static constexpr size_t kSize = 1024;
  SecretRoom() noexcept = default;  // NOLINT: nobody reads what was not written
  ~SecretRoom() { ::explicit_bzero(bytes, sizeof bytes); }
  SecretRoom(const SecretRoom&) = delete;
  SecretRoom& operator=(const SecretRoom&) = delete;
  char bytes[kSize];
};

}  // namespace roost::modules::basic_auth
