#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::http {

// A set of origins as an operator writes them. Immutable; any thread.
//
//   "https://example.org"     that origin
//   "https://*.example.org"   every host below that name, at any depth, but not the name itself
//   "http://localhost:*"      any port, and none
//   "null"                    what sandboxed and local documents send
//   "*"                       every origin
class OriginSet {
 public:
  OriginSet() noexcept = default;
  // Errors: what no browser sends as its origin (a path, capitals, the scheme's own port), with a hint.
  static Result<OriginSet> compile(const std::vector<std::string>& texts);

  bool any() const noexcept { return any_; }
  // `origin`: the value of an Origin field, compared byte by byte as the standard does.
  bool has(std::string_view origin) const noexcept { return (any_ && !origin.empty()) || names(origin); }
  // Whether it is in the set by more than "*".
  bool names(std::string_view origin) const noexcept;

 private:
  struct Pattern {
    std::string scheme;  // with "://"
    std::string host;    // behind the "*" where `subdomains`: ".example.org"
    std::string port;    // with ':', empty for none
    bool subdomains = false;
    bool any_port = false;
  };
  static Result<Pattern> parse(const std::string& text);
  static bool fits(const Pattern& pattern, std::string_view origin) noexcept;

  std::vector<Pattern> patterns_;
  bool any_ = false;
  bool null_ = false;
};

}  // namespace roost::http
