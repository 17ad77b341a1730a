#pragma once

#include <string>
#include <vector>

namespace roost::http {

// Where filters and handlers say what they decided and why, while one request is being explained. An ordinary
// request has none (Exchange::trace() is nullptr), and then nothing is put into words.
class Trace {
 public:
  void note(std::string line) { lines_.push_back(std::move(line)); }
  const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace roost::http
