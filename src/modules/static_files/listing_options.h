#pragma once

#include <cstddef>
#include <cstdint>

namespace roost::modules::static_files {

enum class ListingSort : uint8_t { kName, kSize, kModified };

// What "listing" says.
struct ListingOptions {
  bool enabled = false;
  ListingSort sort = ListingSort::kName;
  bool descending = false;
  bool folders_first = true;
  bool json = true;
  size_t limit = 10'000;  // names
};

}  // namespace roost::modules::static_files
