#include "modules/basic_auth/credentials.h"

#include <algorithm>
#include <cstdint>

#include "base/base64.h"
#include "http/ascii.h"

namespace roost::modules::basic_auth {
namespace {

bool isControl(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

bool parseBasic(std::string_view value, SecretRoom& room, Credentials& out) noexcept {
  constexpr std::string_view kScheme = "Basic";
  if (value.size() <= kScheme.size() || !http::equalsToken(value.substr(0, kScheme.size()), kScheme)) {
    return false;
  }
  value.remove_prefix(kScheme.size());
  const size_t begin = value.find_first_not_of(' ');
  if (begin == 0 || begin == std::string_view::npos) return false;
  value.remove_prefix(begin);
  if (value.size() / 4 * 3 > sizeof room.bytes) return false;
  const size_t size = decodeBase64(value, room.bytes);
  if (size == SIZE_MAX) return false;
  const std::string_view text(room.bytes, size);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || std::any_of(text.begin(), text.end(), isControl)) return false;
  out = {text.substr(0, colon), text.substr(colon + 1)};
  return out.password.size() <= kMaxPasswordBytes;
}

}  // namespace roost::modules::basic_auth
