// What a GET asks for beside its query: in which form, which rows, with which preferences.
#pragma once

#include <cstdint>
#include <string_view>

#include "tables/output.h"
#include "tables/problem.h"
#include "tables/read.h"

namespace roost::http {
struct RequestHead;
}

namespace roost::modules::mysql {

// How rows are sent.
struct Form {
  tables::Format format = tables::Format::kJson;
  bool single = false;  // an object in the array's place
  bool strip_nulls = false;
  std::string_view content_type;
  std::string_view tag_suffix;  // tells ETags of forms apart
};

// By Accept; false: none of what it names can be had (406).
bool chooseForm(const http::RequestHead& head, Form& form) noexcept;

// All Prefer fields. False: handling=strict and one that means nothing here.
bool readPrefer(const http::RequestHead& head, tables::Preferences& out, tables::Problem& problem);

// Accept-Profile and Content-Profile, whatever the method: the schemas that a client of PostgREST has chosen.
// There is one, the database that is configured, which PostgREST's clients know as "public", too. False:
// another is meant (406).
bool readProfile(const http::RequestHead& head, std::string_view database, tables::Problem& problem);

// Range in the unit "items": "0-24", "10-", "items=0-24". What is malformed or of another unit is passed over
// (RFC 9110 section 14.2). False: its end is before its beginning.
bool readRange(const http::RequestHead& head, std::optional<tables::RowRange>& out, tables::Problem& problem);

}  // namespace roost::modules::mysql
