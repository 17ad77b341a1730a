// Conditional requests (RFC 9110 section 13). Pure functions, any thread that may read the head.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace roost::http {

// What the server knows of the selected representation.
struct Validators {
  bool exists = true;              // there is a current representation (what "*" asks)
  bool has_last_modified = false;  // last_modified_s means something
  std::string_view etag;           // as in the ETag field, "..." or W/"..."; empty: there is none
  int64_t last_modified_s = 0;     // since 1970, as in the Last-Modified field
  int64_t now_s = 0;               // the time of this answer's Date field
};

enum class Precondition : uint8_t { kProceed, kNotModified, kPreconditionFailed };

// Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since in the order of
// section 13.2.2. To be asked only where the answer without these fields would be a success (section 13.2.1).
// A date that is none, or that comes on more than one line, is as if it were not there; so is any date where
// there is no Last-Modified. CONNECT, OPTIONS and TRACE select nothing and always proceed. A request without
// these fields costs four comparisons.
Precondition evaluate(const RequestHead& head, const Validators& validators) noexcept;

// Whether a Range field is to be honoured as far as If-Range is concerned (section 13.1.5): there is no
// If-Range, or it holds the current entity tag by strong comparison, or exactly the Last-Modified date, which
// counts as a strong validator only if it lies at least two seconds back (section 8.8.2.2). Anything
// malformed does not match.
bool ifRangeMatches(const RequestHead& head, const Validators& validators) noexcept;

}  // namespace roost::http
