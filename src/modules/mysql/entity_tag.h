// ETags of rows. A tag is the hash of a row's text, or of its version column's value, and a suffix for the
// form that was sent: "6a1f..." of JSON, "6a1f...-o" of a single object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roost::modules::mysql {

// The same on every machine and after every restart. Not for keeping secrets: who can choose contents can
// make two of one hash.
uint64_t contentHash(std::string_view bytes, uint64_t seed = 0) noexcept;

// `"v<hash>"` or `"<hash>"`, with the suffix before the closing quote.
std::string entityTag(uint64_t hash, bool of_version, std::string_view suffix);

// The tag between its quotes without the form's suffix and what a compression has added: what two tags of the
// same row have in common.
std::string_view tagStem(std::string_view opaque) noexcept;

}  // namespace roost::modules::mysql
