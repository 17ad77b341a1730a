#include "modules/cache_control/fingerprint.h"

#include <algorithm>
#include <cstddef>

namespace roost::modules::cache_control {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kShortest = 8;
constexpr size_t kLongest = 64;
constexpr size_t kLongestExtension = 8;

bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool isSmall(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
bool isLetter(char c) noexcept {
  return isSmall(c) || (c >= 'A' && c <= 'Z');
}

// What is to be known of a part that may be a hash.
struct Shape {
  size_t letters = 0;
  size_t digits = 0;
  size_t changes = 0;        // places where a letter and a digit stand side by side
  size_t longest_small = 0;  // run of small letters
  bool is_hex = true;        // in one case
};

Shape shapeOf(std::string_view part) noexcept {
  Shape shape;
  bool small_hex = true;
  bool large_hex = true;
  size_t small_run = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    (isDigit(c) ? shape.digits : shape.letters) += 1;
    if (i > 0 && isDigit(c) != isDigit(part[i - 1])) ++shape.changes;
    small_hex = small_hex && (isDigit(c) || (c >= 'a' && c <= 'f'));
    large_hex = large_hex && (isDigit(c) || (c >= 'A' && c <= 'F'));
    small_run = isSmall(c) ? small_run + 1 : 0;
    shape.longest_small = std::max(shape.longest_small, small_run);
  }
  shape.is_hex = small_hex || large_hex;
  return shape;
}

bool looksLikeHash(std::string_view part) noexcept {
  if (part.size() < kShortest || part.size() > kLongest) return false;
  if (!std::all_of(part.begin(), part.end(), [](char c) { return isDigit(c) || isLetter(c); })) return false;
  const Shape shape = shapeOf(part);
  if (shape.letters == 0 || shape.digits == 0) return false;
  if (shape.is_hex) return shape.changes >= 2 || isDigit(part.front());
  return shape.changes >= 3 && shape.letters >= 3 && shape.longest_small <= 4;
}

// Whether the name, which ends with the part, ends with 8-4-4-4-12 hexadecimal digits (RFC 9562).
bool endsWithUuid(std::string_view name) noexcept {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (name.size() < kForm.size()) return false;
  const std::string_view tail = name.substr(name.size() - kForm.size());
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool hex =
        isDigit(tail[i]) || (tail[i] >= 'a' && tail[i] <= 'f') || (tail[i] >= 'A' && tail[i] <= 'F');
    if (kForm[i] == '-' ? tail[i] != '-' : !hex) return false;
  }
  return true;
}

// Of a name without its extensions.
bool endsWithHash(std::string_view name) noexcept {
  const size_t separator = name.find_last_of(".-_~");
  if (separator == kNone || separator == 0) return false;
  return looksLikeHash(name.substr(separator + 1)) && !endsWithUuid(name);
}

// Takes the extension off; false where there is none.
bool dropExtension(std::string_view& name) noexcept {
  const size_t dot = name.rfind('.');
  if (dot == kNone || dot == 0) return false;
  const std::string_view extension = name.substr(dot + 1);
  const bool fits =
      !extension.empty() && extension.size() <= kLongestExtension &&
      std::all_of(extension.begin(), extension.end(), [](char c) { return isDigit(c) || isLetter(c); });
  if (fits) name = name.substr(0, dot);
  return fits;
}

}  // namespace

bool isFingerprinted(std::string_view path) noexcept {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!dropExtension(name)) return false;
  if (endsWithHash(name)) return true;
  return dropExtension(name) && endsWithHash(name);
}

}  // namespace roost::modules::cache_control
