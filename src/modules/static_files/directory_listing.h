// A folder's content as a page or as JSON. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "modules/static_files/folder_reader.h"
#include "modules/static_files/listing_options.h"

namespace roost::modules::static_files {

// In which form and order a client wants to see a folder.
struct ListingView {
  bool json = false;
  ListingSort sort = ListingSort::kName;
  bool descending = false;
};

// What the query asks for ("sort=name|size|modified", "order=asc|desc", "format=html|json"), over `usual`;
// anything else in it is passed over.
ListingView viewOf(std::string_view query, ListingView usual) noexcept;

// Folders first where the options say so, then by the view's order; names as people count ("a2" before
// "a10"), whatever the case.
void sortItems(FolderContent& content, const ListingOptions& options, const ListingView& view);

// What the page is about.
struct ListingPlace {
  std::string path;        // as asked for; ends with '/'
  size_t first_crumb = 1;  // bytes of it that lie above what this route answers: no links there
};

std::string listingPage(const FolderContent& content, const ListingPlace& place, const ListingView& view);
std::string listingJson(const FolderContent& content, const ListingPlace& place);

// "612 B", "1.2 KiB", "34 MiB".
std::string sizeText(uint64_t bytes);
// "2026-11-20T14:03:59Z", for people "2026-11-20 14:03"; years outside 0 to 9999 are the nearest.
std::string timeText(int64_t unix_s, bool for_people);

}  // namespace roost::modules::static_files
