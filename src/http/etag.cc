#include "http/etag.h"

#include <algorithm>
#include <charconv>

#include "http/token_list.h"

namespace roost::http {

namespace {

// etagc: '!', '#' to '~', and the bytes from 0x80.
bool isEtagChar(char c) noexcept {
  const uint8_t byte = static_cast<uint8_t>(c);
  return byte > ' ' && byte != '"' && byte != 0x7f;
}

// Reads an entity-tag off the front of `rest`; leaves `rest` alone where there is none.
std::optional<EntityTag> takeEntityTag(std::string_view& rest) noexcept {
  const bool weak = rest.substr(0, 2) == "W/";
  size_t at = weak ? 2 : 0;
  if (at == rest.size() || rest[at] != '"') return std::nullopt;
  const size_t first = ++at;
  while (at < rest.size() && isEtagChar(rest[at])) ++at;
  if (at == rest.size() || rest[at] != '"') return std::nullopt;
  const EntityTag tag{rest.substr(first, at - first), weak};
  rest.remove_prefix(at + 1);
  return tag;
}

std::string_view skipToElement(std::string_view rest) noexcept {
  const size_t at = rest.find_first_not_of(" \t,");
  return at == std::string_view::npos ? std::string_view{} : rest.substr(at);
}

}  // namespace

std::optional<EntityTag> parseEntityTag(std::string_view text) noexcept {
  const std::optional<EntityTag> tag = takeEntityTag(text);
  return text.empty() ? tag : std::nullopt;
}

EntityTagList::EntityTagList(const RequestHead& head, FieldId id) noexcept
    : head_(head), field_(head.find(id)) {
  if (field_ == nullptr) return;
  rest_ = head.value(*field_);
  any_ = trimOws(rest_) == "*" && head.nextOf(*field_) == nullptr;
  if (any_) {
    field_ = nullptr;
    rest_ = {};
  }
}

bool EntityTagList::nextInLine() noexcept {
  for (rest_ = skipToElement(rest_); !rest_.empty(); rest_ = skipToElement(rest_)) {
    if (const std::optional<EntityTag> tag = takeEntityTag(rest_)) {
      // Only whitespace may stand between a tag and the comma; `"a"b` is no tag.
      const size_t at = rest_.find_first_not_of(" \t");
      if (at == std::string_view::npos || rest_[at] == ',') {
        tag_ = *tag;
        return true;
      }
    }
    const size_t comma = rest_.find(',');
    rest_.remove_prefix(comma == std::string_view::npos ? rest_.size() : comma);
  }
  return false;
}

bool EntityTagList::next() noexcept {
  while (field_ != nullptr) {
    if (nextInLine()) return true;
    field_ = head_.nextOf(*field_);
    if (field_ != nullptr) rest_ = head_.value(*field_);
  }
  return false;
}

FileEtag makeFileEtag(int64_t mtime_ns, uint64_t size_bytes, int64_t changed_ns,
                      int64_t looked_at_ns) noexcept {
  FileEtag etag;
  etag.weak = changed_ns > looked_at_ns ||
              static_cast<uint64_t>(looked_at_ns) - static_cast<uint64_t>(changed_ns) < uint64_t{kStillNs};
  char* at = etag.text;
  char* const end = etag.text + FileEtag::kMaxText;
  if (etag.weak) {
    *at++ = 'W';
    *at++ = '/';
  }
  *at++ = '"';
  at = std::to_chars(at, end, static_cast<uint64_t>(mtime_ns), 16).ptr;
  *at++ = '-';
  at = std::to_chars(at, end, size_bytes, 16).ptr;
  *at++ = '"';
  etag.size = static_cast<uint8_t>(at - etag.text);
  return etag;
}

FileEtag withSuffix(const FileEtag& etag, std::string_view suffix, bool weak) noexcept {
  std::string_view opaque = etag.view();
  if (etag.weak) opaque.remove_prefix(2);
  opaque.remove_suffix(1);
  FileEtag made;
  made.weak = weak || etag.weak;
  char* at = made.text;
  const auto put = [&at](std::string_view text) { at = std::copy(text.begin(), text.end(), at); };
  if (made.weak) put("W/");
  put(opaque);
  put("-");
  put(suffix);
  put("\"");
  made.size = static_cast<uint8_t>(at - made.text);
  return made;
}

}  // namespace roost::http
