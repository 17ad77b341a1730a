#pragma once

#include <cstring>

namespace roost {

// The system's words for an errno. Any thread; the text is static.
inline const char* errnoText(int sys_errno) noexcept {
  const char* text = ::strerrordesc_np(sys_errno);
  return text != nullptr ? text : "unknown error";
}

}  // namespace roost
