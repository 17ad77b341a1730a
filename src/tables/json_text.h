// Text as JSON and CSV have it. Pure functions, any thread.
#pragma once

#include <string_view>

namespace roost::tables {

class TextSink;

// A JSON string (RFC 8259 section 7), quoted and escaped. Each byte that is no part of UTF-8 becomes U+FFFD.
void putJsonString(TextSink& sink, std::string_view text);
// A field of CSV (RFC 4180): in quotes where it has to be, or is empty. The same of what is no UTF-8.
void putCsvText(TextSink& sink, std::string_view text);

// Whether a text is one JSON value and nothing else (RFC 8259), nested at most kJsonDepth deep.
constexpr int kJsonDepth = 256;
bool isJson(std::string_view text) noexcept;

}  // namespace roost::tables
