// Media types by file name extension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::http {

// Extension to media type, in three layers: the types built in here win over the system's list, so that a
// site looks the same on every machine; what the configuration says wins over both.
//
// Filled by one thread while the configuration is loaded, then immutable, owned by the snapshot; lookup() may
// be called by any thread, and what it returns lives as long as the table. Moves, never copies.
class MimeTable {
 public:
  static constexpr std::string_view kDefaultType = "application/octet-stream";
  static constexpr size_t kMaxExtensionBytes = 15;

  MimeTable();  // the built-in types
  MimeTable(MimeTable&&) noexcept = default;
  MimeTable& operator=(MimeTable&&) noexcept = default;
  MimeTable(const MimeTable&) = delete;
  MimeTable& operator=(const MimeTable&) = delete;

  // Adds what a text in the form of mime.types has ("type ext ext...", '#' begins a comment) and the table
  // lacks. Lines that make no sense are passed over: the file is the system's, not ours. Call it before
  // add().
  void addSystemTypes(std::string_view text);
  // The same of a file, if it is there; returns how many extensions it added.
  size_t loadSystemTypes(const char* path = "/etc/mime.types");

  // Sets the type of an extension, with or without its dot, in any case. Errors name the text that is no
  // extension or no media type (RFC 9110 section 8.3.1; parameters are allowed).
  Status add(std::string_view extension, std::string_view type);
  // The type of names without a known extension.
  Status setDefault(std::string_view type);

  // The type of the file a path names: of the extension after the last dot of its last segment, in any case.
  // A name that only begins with a dot (".profile") has no extension. No allocation.
  std::string_view lookup(std::string_view path) const noexcept;

  size_t size() const noexcept { return count_; }

 private:
  // An extension in lower case, zero-padded, its length in the last byte; compared and hashed as two numbers.
  struct Key {
    uint64_t words[2];
  };
  struct Slot {
    Key key;              // all zero: free
    uint32_t type_index;  // into types_
  };

  static bool makeKey(std::string_view extension, Key& key) noexcept;
  static bool same(const Key& a, const Key& b) noexcept {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
  }
  size_t slotOf(const Key& key) const noexcept;
  void put(const Key& key, std::string_view type);
  bool putIfAbsent(std::string_view extension, std::string_view type);
  uint32_t internType(std::string_view type);
  void grow();

  std::vector<Slot> slots_;         // open addressing, a power of two, at most half full
  std::vector<std::string> types_;  // [0] is the default
  size_t count_ = 0;
};

// Whether a Content-Type of this media type should carry a charset parameter: text/* and JavaScript. JSON and
// WebAssembly define none, XML types (SVG among them) say it in the document. False where the type already
// has the parameter.
bool isText(std::string_view type) noexcept;

}  // namespace roost::http
