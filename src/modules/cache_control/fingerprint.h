#pragma once

#include <string_view>

namespace roost::modules::cache_control {

// Whether a path's last segment carries a hash of its content, so that other content would have another name:
// "app.0123abcd.js", "logo-3f2a9c1b.css", "main-QVX2ZK7N.js", "vendor_1a2b3c4d5e.js.map".
//
// The hash is the part before the extension, or before the last two ("js.map"), with '.', '-', '_' or '~' in
// front of it and something before that. It is 8 to 64 letters and digits, of both kinds, and changes between
// letters and digits
//   - at least twice, or once from digits to letters, where it is hexadecimal in one case ("decade20" is a
//   word);
//   - at least three times, where it is not; then it has three letters or more, and no more than four small
//     letters follow one another.
// A UUID is an identifier and no hash. Random hashes that look like words, dates or version numbers are not
// recognised, rather than the other way round. Pure function, any thread.
bool isFingerprinted(std::string_view path) noexcept;

}  // namespace roost::modules::cache_control
