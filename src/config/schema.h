#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::config {

struct SchemaImpl;  // config/schema_impl.h, for this folder only

// What a module adds to the schema: a key and the JSON Schema of its value.
struct SchemaFragment {
  std::string key;         // "static"
  std::string_view text;   // borrowed during assemble() only
  bool is_handler = true;  // a route has exactly one handler key and any number of others
  // The key may also stand in a site and in `http`, for all routes below; null takes it away again from there
  // on. REQUIRES: !is_handler.
  bool is_inherited = false;
  // The key stands in an entry of `listen` instead of a route: it names who speaks there in HTTP's place, and
  // an entry has at most one of them. REQUIRES: neither a handler nor inherited.
  bool is_listener = false;
};

// The JSON Schema (draft-07) of the whole configuration, of the core and of every module. Made once at
// start-up, immutable afterwards: any thread may use it. A loaded Config does not refer to it.
//
// Beside the words of JSON Schema it knows these:
//   x-unit        the unit of a number, for the manual
//   x-path        a file path: made absolute when loading
//   x-secret      never shown by Config::dump() or in an error
//   x-switch      "on" and "off" become true and false
//   x-append      a list that grows when files are included, instead of being replaced
//   x-alias-for   an old spelling; the pointer says which key its value moves to
//   x-inherit     null takes the value at this pointer
//   x-pattern-text  what `pattern` demands, in words
//   x-example     a value that is worth showing, for the manual
class Schema {
 public:
  // Puts each fragment below a route's properties, an inherited one below a site's and http's too, a
  // listener's below those of an entry of `listen`. Errors:
  // text that is no JSON, a word of JSON Schema that this reader does not know (it must never be weaker than
  // the schema says), a key given twice.
  static Result<Schema> assemble(std::string_view core, const std::vector<SchemaFragment>& fragments);

  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  const std::string& text() const noexcept;  // pretty-printed, ends with a newline
  const SchemaImpl& impl() const noexcept { return *impl_; }

 private:
  explicit Schema(std::unique_ptr<SchemaImpl> impl) noexcept;
  std::unique_ptr<SchemaImpl> impl_;
};

// The schema of everything that is not a module's, built into the program.
std::string_view coreSchemaText() noexcept;

}  // namespace roost::config
