#pragma once

#include <string>

#include "http/exchange.h"
#include "modules/static_files/root_folder.h"

namespace roost::modules::static_files {

// Answers with what lies in a folder, as HTML or JSON, whichever the request wants: a task thread reads it
// and puts the page together. `path` is the folder's below the root and ends with '/'. The tag is made of
// what is answered, since a folder's own time says nothing of its files' sizes and times.
void answerListing(http::Exchange& exchange, const RootOptions& root, const std::string& path);

}  // namespace roost::modules::static_files
