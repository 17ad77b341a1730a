#include "http/mime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "http/field_syntax.h"
#include "http/mime_builtin.h"
#include "http/token_list.h"

namespace roost::http {

namespace {

constexpr size_t kInitialSlots = 1024;

// type "/" subtype, and parameters that could not break out of a field; their grammar is left to who wrote
// them.
bool isMediaType(std::string_view type) noexcept {
  const size_t semicolon = type.find(';');
  const std::string_view essence = trimOws(type.substr(0, semicolon));
  const size_t slash = essence.find('/');
  if (slash == std::string_view::npos || !isToken(essence.substr(0, slash)) ||
      !isToken(essence.substr(slash + 1))) {
    return false;
  }
  for (const char c : type) {
    if (c < ' ' || c > '~') return false;
  }
  return true;
}

// The next word of a line, empty at its end.
std::string_view takeWord(std::string_view& line) noexcept {
  constexpr std::string_view kSpace = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSpace));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

MimeTable::MimeTable() : slots_(kInitialSlots) {
  types_.emplace_back(kDefaultType);
  for (const internal::BuiltinType& builtin : internal::kBuiltinTypes) {
    std::string_view extensions = builtin.extensions;
    for (std::string_view word = takeWord(extensions); !word.empty(); word = takeWord(extensions)) {
      putIfAbsent(word, builtin.type);
    }
  }
}

bool MimeTable::makeKey(std::string_view extension, Key& key) noexcept {
  if (extension.empty() || extension.size() > kMaxExtensionBytes) return false;
  char bytes[sizeof key.words] = {};
  for (size_t i = 0; i < extension.size(); ++i) {
    const char c = extension[i];
    bytes[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  }
  bytes[kMaxExtensionBytes] = static_cast<char>(extension.size());  // so that a NUL is no padding
  std::memcpy(key.words, bytes, sizeof bytes);
  return true;
}

// Where the key is, or where it would go: there is always a free slot.
size_t MimeTable::slotOf(const Key& key) const noexcept {
  const uint64_t hash = (key.words[0] ^ key.words[1] * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
  const size_t mask = slots_.size() - 1;
  size_t at = static_cast<size_t>(hash >> 32) & mask;
  while (!same(slots_[at].key, key) && (slots_[at].key.words[0] | slots_[at].key.words[1]) != 0)
    at = (at + 1) & mask;
  return at;
}

uint32_t MimeTable::internType(std::string_view type) {
  // Extensions of one type come one after the other.
  if (types_.size() > 1 && types_.back() == type) return static_cast<uint32_t>(types_.size() - 1);
  types_.emplace_back(type);
  return static_cast<uint32_t>(types_.size() - 1);
}

void MimeTable::put(const Key& key, std::string_view type) {
  if ((count_ + 1) * 2 > slots_.size()) grow();
  Slot& slot = slots_[slotOf(key)];
  if (!same(slot.key, key)) ++count_;
  slot = Slot{key, internType(type)};
}

bool MimeTable::putIfAbsent(std::string_view extension, std::string_view type) {
  Key key;
  if (!makeKey(extension, key) || same(slots_[slotOf(key)].key, key)) return false;
  put(key, type);
  return true;
}

void MimeTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if ((slot.key.words[0] | slot.key.words[1]) != 0) slots_[slotOf(slot.key)] = slot;
  }
}

void MimeTable::addSystemTypes(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    const std::string_view type = takeWord(line);
    if (!isMediaType(type)) continue;
    for (std::string_view word = takeWord(line); !word.empty(); word = takeWord(line))
      putIfAbsent(word, type);
  }
}

size_t MimeTable::loadSystemTypes(const char* path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return 0;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t before = count_;
  addSystemTypes(text);
  return count_ - before;
}

Status MimeTable::add(std::string_view extension, std::string_view type) {
  std::string_view bare = extension;
  if (!bare.empty() && bare.front() == '.') bare.remove_prefix(1);
  Key key;
  if (bare.find_first_of(std::string_view("./ \t\0", 5)) != std::string_view::npos || !makeKey(bare, key)) {
    return Status::error(
        fmt::format("\"{}\" is not a file name extension (1 to {} characters, no dot, no slash)", extension,
                    kMaxExtensionBytes));
  }
  if (!isMediaType(type))
    return Status::error(fmt::format("\"{}\" is not a media type such as text/html", type));
  put(key, type);
  return {};
}

Status MimeTable::setDefault(std::string_view type) {
  if (!isMediaType(type))
    return Status::error(fmt::format("\"{}\" is not a media type such as text/html", type));
  types_[0] = std::string(type);
  return {};
}

std::string_view MimeTable::lookup(std::string_view path) const noexcept {
  // From the end, no further than an extension may reach.
  const size_t lowest = path.size() > kMaxExtensionBytes + 1 ? path.size() - kMaxExtensionBytes - 1 : 0;
  for (size_t i = path.size(); i > lowest; --i) {
    const char c = path[i - 1];
    if (c == '/') break;
    if (c != '.') continue;
    Key key;
    const bool named = i >= 2 && path[i - 2] != '/';
    if (!named || !makeKey(path.substr(i), key)) break;
    const Slot& slot = slots_[slotOf(key)];
    return types_[same(slot.key, key) ? slot.type_index : 0];
  }
  return types_[0];
}

bool isText(std::string_view type) noexcept {
  const size_t semicolon = type.find(';');
  const std::string_view essence = trimOws(type.substr(0, semicolon));
  const bool text =
      equalsToken(essence.substr(0, 5), "text/") || equalsToken(essence, "application/javascript");
  if (!text || semicolon == std::string_view::npos) return text;
  constexpr std::string_view kCharset = "charset=";
  for (size_t i = semicolon + 1; i + kCharset.size() <= type.size(); ++i) {
    if (equalsToken(type.substr(i, kCharset.size()), kCharset)) return false;
  }
  return true;
}

}  // namespace roost::http
