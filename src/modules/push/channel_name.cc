#include "modules/push/channel_name.h"

#include <algorithm>

namespace roost::modules::push {

ChannelFault checkChannel(std::string_view name) noexcept {
  if (name.empty()) return ChannelFault::kEmpty;
  if (name.size() > kMaxChannelBytes) return ChannelFault::kTooLong;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return std::any_of(name.begin(), name.end(), is_control) ? ChannelFault::kControl : ChannelFault::kNone;
}

std::string_view faultText(ChannelFault fault) noexcept {
  switch (fault) {
    case ChannelFault::kEmpty:
      return "the channel's name is empty";
    case ChannelFault::kTooLong:
      return "the channel's name is longer than 1024 bytes";
    case ChannelFault::kControl:
      return "the channel's name holds a control character";
    case ChannelFault::kNone:
      break;
  }
  return {};
}

Result<ChannelTemplate> ChannelTemplate::compile(std::string_view text,
                                                 const std::vector<std::string>& names) {
  if (Status foreign = http::checkForeignVariables(text); !foreign.ok()) return foreign;
  Result<http::Template> compiled = http::Template::compile(text, names);
  if (!compiled.ok()) return compiled.status();
  return ChannelTemplate(std::move(compiled).value());
}

ChannelFault ChannelTemplate::read(const http::Exchange& exchange, std::string& name) const {
  name.clear();
  template_.append(name, exchange);
  return checkChannel(name);
}

}  // namespace roost::modules::push
