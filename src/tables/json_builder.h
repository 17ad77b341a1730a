#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace roost::tables {

// Puts a document together again from what a reader of JSON says of it, compactly, with its numbers as they
// were written. Refuses members that stand twice and what nests too deeply.
class JsonBuilder {
 public:
  explicit JsonBuilder(uint32_t max_depth) noexcept : max_depth_(max_depth) {}

  // Each false where the document may not be; fault() says why.
  bool literal(std::string_view text);  // a number, true, false, null
  bool string(std::string_view utf8);
  bool key(std::string_view name);
  bool open(bool is_object);
  bool close();

  bool done() const noexcept { return levels_.empty(); }  // after open(): all is closed
  std::string take();                                     // starts over
  const std::string& fault() const noexcept { return fault_; }

 private:
  struct Level {
    bool is_object = false;
    bool has_some = false;
    std::set<std::string, std::less<>> names;
  };
  void separate();

  const uint32_t max_depth_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  std::string text_;
  std::string fault_;
};

}  // namespace roost::tables
