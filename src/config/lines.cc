#include <algorithm>

#include "config/reader.h"

namespace roost::config {
namespace {

constexpr size_t kExcerptBytes = 100;  // of a long line, around the caret

bool continuesCharacter(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

Lines::Lines(std::string_view text) : text_(text) {
  starts_.push_back(0);
  for (size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1))
    starts_.push_back(i + 1);
}

size_t Lines::indexOf(size_t offset) const {
  return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin()) - 1;
}

std::string_view Lines::lineAt(size_t index) const {
  const size_t end = index + 1 < starts_.size() ? starts_[index + 1] - 1 : text_.size();
  std::string_view line = text_.substr(starts_[index], end - starts_[index]);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

Mark Lines::mark(const std::string* file, size_t offset) {
  offset = std::min(offset, text_.size());
  const size_t index = indexOf(offset);
  size_t start = starts_[index];
  if (index == 0 && text_.compare(0, 3, "\xEF\xBB\xBF") == 0) start = std::min<size_t>(3, offset);
  if (counted_to_ < start || counted_to_ > offset) {
    counted_to_ = start;
    counted_ = 0;
  }
  const std::string_view between = text_.substr(counted_to_, offset - counted_to_);
  counted_ += static_cast<size_t>(
      std::count_if(between.begin(), between.end(), [](char c) { return !continuesCharacter(c); }));
  counted_to_ = offset;
  return {file, static_cast<uint32_t>(index + 1), static_cast<uint32_t>(counted_ + 1)};
}

std::string Lines::excerpt(size_t offset) const {
  offset = std::min(offset, text_.size());
  const size_t index = indexOf(offset);
  std::string_view line = lineAt(index);
  size_t caret = std::min(offset - starts_[index], line.size());
  size_t from = caret > kExcerptBytes / 2 ? caret - kExcerptBytes / 2 : 0;
  while (from > 0 && continuesCharacter(line[from])) --from;
  size_t to = std::min(line.size(), from + kExcerptBytes);
  while (to < line.size() && continuesCharacter(line[to])) ++to;
  line = line.substr(from, to - from);
  caret -= from;

  const std::string number = std::to_string(index + 1);
  std::string text = "  " + number + " | ";
  std::string pointer = "  " + std::string(number.size(), ' ') + " | ";
  for (size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    text += control ? '?' : line[i];
    if (i < caret && !continuesCharacter(line[i])) pointer += line[i] == '\t' ? '\t' : ' ';
  }
  return text + "\n" + pointer + "^";
}

}  // namespace roost::config
