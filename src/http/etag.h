// Entity tags (RFC 9110 section 8.8.3): reading, comparing, and the one a file gets. Pure functions, any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message.h"

namespace roost::http {

struct EntityTag {
  std::string_view opaque;  // between the quotes; may be empty
  bool weak = false;
};

// Reads a whole text as one entity-tag: W/"..." or "...", the characters as section 8.8.3 allows them. A
// backslash is one of them and escapes nothing.
std::optional<EntityTag> parseEntityTag(std::string_view text) noexcept;

// Section 8.8.3.2. Strong: both strong and the same; weak: the same, whatever they are.
inline bool strongMatch(const EntityTag& a, const EntityTag& b) noexcept {
  return !a.weak && !b.weak && a.opaque == b.opaque;
}
inline bool weakMatch(const EntityTag& a, const EntityTag& b) noexcept {
  return a.opaque == b.opaque;
}

// Walks the entity tags of If-Match or If-None-Match, from the first field line to the last. What is neither
// a tag nor
// "*" is passed over up to the next comma, so one bad element does not hide the good ones.
//
// A value that borrows the head's text; any thread that may read that. No allocation.
class EntityTagList {
 public:
  EntityTagList(const RequestHead& head, FieldId id) noexcept;

  // Whether the field is "*" and nothing else (section 13.1.1). A "*" among tags means nothing.
  bool isAny() const noexcept { return any_; }
  // Goes to the next tag; false after the last, and at once if isAny().
  bool next() noexcept;
  const EntityTag& tag() const noexcept { return tag_; }  // REQUIRES: next() was called and said true

 private:
  bool nextInLine() noexcept;

  const RequestHead& head_;
  const Field* field_;
  std::string_view rest_;
  EntityTag tag_;
  bool any_ = false;
};

// A file must have been left alone this long before its tag may be strong: within the grain of a file
// system's clock two versions could carry the same time (section 8.8.1).
constexpr int64_t kStillNs = 2'000'000'000;

// The tag of a file, ready for the ETag field. No inode and nothing of this machine goes into it, so that a
// fleet with copies of the same file (same size, same modification time) agrees.
struct FileEtag {
  static constexpr size_t kMaxText = 56;
  char text[kMaxText];
  uint8_t size = 0;
  bool weak = false;

  std::string_view view() const noexcept { return {text, size}; }
};

// `changed_ns`: when the file last changed, st_mtime, or the later of st_mtime and st_ctime where a
// modification time may have been set by hand after the content changed. `looked_at_ns`: when that was read
// from the file system. All are nanoseconds since 1970. The tag is weak unless the file had then been still
// for kStillNs; a time in the future is not still.
FileEtag makeFileEtag(int64_t mtime_ns, uint64_t size_bytes, int64_t changed_ns,
                      int64_t looked_at_ns) noexcept;

// The tag of another form of the same content: with "-<suffix>" at the end of its opaque part. `weak` makes
// it weak, whatever `etag` is. REQUIRES: a tag of makeFileEtag, a suffix of at most 8 visible characters
// without quotes.
FileEtag withSuffix(const FileEtag& etag, std::string_view suffix, bool weak) noexcept;

}  // namespace roost::http
