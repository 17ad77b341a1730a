// Which field a name means: the names the server knows, found by a perfect hash whose seed the compiler
// searches.
#pragma once

#include <string_view>

#include "http/message.h"

namespace roost::http {

// The field of that name in any case (RFC 9110 section 5.1), kOther for a name the server does not look at.
FieldId fieldId(std::string_view name) noexcept;

// The name as it is usually written, e.g. "Content-Length"; "" for kOther.
std::string_view fieldName(FieldId id) noexcept;

}  // namespace roost::http
