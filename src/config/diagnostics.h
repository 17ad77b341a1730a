// Collecting what is wrong. For this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"
#include "config/value.h"

namespace roost::config {

// The errors of one load, bounded: a file of nonsense must not produce a book. Lives on the loader's stack.
class Errors {
 public:
  void add(const Mark& where, std::string message, std::string excerpt = {});
  bool any() const noexcept { return total_ > 0; }
  bool full() const noexcept;  // further errors are only counted: no need to word them well
  size_t count() const noexcept { return total_; }

  // Sorted by file (in the order given) and place, with a last line that counts what was left out.
  std::vector<Diagnostic> take(const std::vector<const std::string*>& files);

 private:
  struct Entry {
    Mark where;
    std::string message;
    std::string excerpt;
  };
  std::vector<Entry> entries_;
  size_t total_ = 0;
};

// Text for a message: in double quotes, control characters escaped, cut when long.
std::string inQuotes(std::string_view text);

// The candidate a person most likely meant, or "" when none is near. Compares without regard to case.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);

// ": did you mean \"x\"?" or "".
std::string didYouMean(std::string_view text, const std::vector<std::string_view>& candidates);

}  // namespace roost::config
