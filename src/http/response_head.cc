#include "http/response_head.h"

#include <algorithm>
#include <charconv>

#include "http/ascii.h"

namespace roost::http {

void ResponseHead::add(std::string_view name, std::string_view value) {
  lines_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()),
                    static_cast<uint32_t>(value.size())});
  // Once for the whole line: each insertion by itself takes longer than the copying.
  const size_t at = text_.size();
  text_.resize(at + name.size() + value.size() + 4, boost::container::default_init);
  char* to = std::copy(name.begin(), name.end(), text_.data() + at);
  *to++ = ':';
  *to++ = ' ';
  to = std::copy(value.begin(), value.end(), to);
  *to++ = '\r';
  *to = '\n';
}

void ResponseHead::addNumber(std::string_view name, uint64_t value) {
  char digits[20];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  add(name, {digits, static_cast<size_t>(result.ptr - digits)});
}

size_t ResponseHead::indexOf(std::string_view name) const noexcept {
  size_t i = 0;
  while (i < lines_.size() && !equalsToken(nameOf(lines_[i]), name)) ++i;
  return i;
}

void ResponseHead::addAll(const ResponseHead& other) {
  other.forEach([this](std::string_view name, std::string_view value) { add(name, value); });
}

std::string_view ResponseHead::get(std::string_view name) const noexcept {
  const size_t i = indexOf(name);
  return i == lines_.size() ? std::string_view{} : valueOf(lines_[i]);
}

void ResponseHead::remove(std::string_view name) noexcept {
  for (size_t i = indexOf(name); i != lines_.size(); i = indexOf(name)) {
    const Line gone = lines_[i];
    const uint32_t size = gone.name_len + gone.value_len + 4;
    text_.erase(text_.begin() + gone.off, text_.begin() + gone.off + size);
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t later = i; later < lines_.size(); ++later) lines_[later].off -= size;
  }
}

}  // namespace roost::http
