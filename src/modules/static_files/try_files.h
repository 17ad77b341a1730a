#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::modules::static_files {

// The paths that are tried for a request, in turn, and what is answered where none of them is there: what
// "try_files" and "fallback" say. All lie below the folder served. Immutable; any thread.
class TryFiles {
 public:
  TryFiles() noexcept = default;
  // `names`: "/index.html", "{path}", "{path}.html", "{path}/". Errors: one that no request could have as its
  // path, another variable than {path}.
  static Result<TryFiles> compile(const std::vector<std::string>& names, int status);

  bool empty() const noexcept { return candidates_.empty(); }
  size_t size() const noexcept { return candidates_.size(); }
  // What is answered in the end.
  int status() const noexcept { return status_; }
  // The path to try for a request for `path` (canonical). Lies in `path` or in `space`. Empty: this one means
  // nothing here ("{path}.html" for a path that ends with a slash).
  std::string_view expand(size_t index, std::string_view path, std::string& space) const;

 private:
  struct Candidate {
    std::string before;
    std::string after;
    bool has_path = false;
  };
  std::vector<Candidate> candidates_;
  int status_ = 404;
};

}  // namespace roost::modules::static_files
