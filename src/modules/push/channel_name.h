#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "http/template.h"

namespace roost::modules::push {

// Why a text cannot name a channel.
enum class ChannelFault : uint8_t { kNone, kEmpty, kTooLong, kControl };

constexpr size_t kMaxChannelBytes = 1024;

// A name is any bytes but control characters, compared as they are.
ChannelFault checkChannel(std::string_view name) noexcept;
// For an answer: "the channel's name is empty".
std::string_view faultText(ChannelFault fault) noexcept;

// Where a route takes the channel's name from: a Template ("{channel}", "{app}/{room}"). Immutable; any
// thread. A prefix that names a group, or that another route is not let into, is written in front here.
class ChannelTemplate {
 public:
  // `names` are the parts of the route's path. Errors: see http::Template.
  static Result<ChannelTemplate> compile(std::string_view text, const std::vector<std::string>& names);

  // Puts the channel's name in `name`; what is not kNone is answered 400. REQUIRES: not parked.
  ChannelFault read(const http::Exchange& exchange, std::string& name) const;

 private:
  explicit ChannelTemplate(http::Template text) noexcept : template_(std::move(text)) {}
  http::Template template_;
};

}  // namespace roost::modules::push
