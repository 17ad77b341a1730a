#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::http {

struct Route;

// The course of one request that is being explained: the steps it took, and in each of them what filters and
// handlers say they decided and why. An ordinary request has none (Exchange::trace() is nullptr), and then
// nothing is put into words. Owned by who explains; the loop's thread.
class Trace {
 public:
  enum class Kind : uint8_t { kProtocol, kRoute, kFilter, kHandler, kHead };
  struct Step {
    Kind kind;
    std::string name;  // a route's path, else the key of the module
    std::string outcome;
    std::vector<std::string> notes;
    // Of kRoute: what was looked for, and what was found. The route lives as long as its Service.
    std::string host;
    std::string path;
    const Route* route = nullptr;
  };

  // For filters and handlers: one plain sentence, kept with the step under way.
  void note(std::string line) {
    lines_.push_back(line);
    if (steps_.empty()) begin(Kind::kProtocol, {});
    steps_.back().notes.push_back(std::move(line));
  }
  const std::vector<std::string>& lines() const noexcept { return lines_; }  // all that was noted

  // For Exchange. Begins a step and returns its number, for settle(). Steps may begin within another, where a
  // filter sends the request on.
  size_t begin(Kind kind, std::string_view name) {
    steps_.push_back({kind, std::string(name), {}, {}, {}, {}, nullptr});
    return steps_.size() - 1;
  }
  void beginRoute(std::string_view host, std::string_view path, std::string_view route_path,
                  const Route& route) {
    steps_.push_back(
        {Kind::kRoute, std::string(route_path), {}, {}, std::string(host), std::string(path), &route});
  }
  void settle(size_t step, std::string outcome) { steps_[step].outcome = std::move(outcome); }
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  std::vector<std::string> lines_;
  std::vector<Step> steps_;
};

}  // namespace roost::http
