#pragma once

#include <cstdint>

namespace roost::log {

enum class Level : uint8_t { kDebug, kInfo, kWarn, kError };

}  // namespace roost::log
