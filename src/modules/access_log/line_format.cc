#include "modules/access_log/line_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roost::modules::access_log {

void LineFormat::add(std::string_view before, Value value, bool quoted) {
  parts_.push_back({Literal(before), value, 0, quoted});
}

uint8_t LineFormat::textPlace(const TextWanted& wanted) {
  const auto same = [&](const TextWanted& other) {
    return other.kind == wanted.kind && other.name == wanted.name;
  };
  const auto found = std::find_if(texts_.begin(), texts_.end(), same);
  const auto place = static_cast<uint8_t>(found - texts_.begin());
  if (found == texts_.end()) texts_.push_back(wanted);
  return place;
}

void LineFormat::addText(std::string_view before, TextWanted wanted, bool quoted) {
  parts_.push_back({Literal(before), Value::kText, textPlace(wanted), quoted});
}

LineFormat LineFormat::combined() {
  return std::move(compile("{client} - {user} [{time_local}] \"{request}\" {status} {bytes} "
                           "\"{referer}\" \"{user_agent}\"",
                           Escape::kHex))
      .value();
}

LineFormat LineFormat::json() {
  LineFormat made;
  made.escape_ = Escape::kJson;
  made.add("{\"time\":\"", Value::kTime);
  made.add("\",\"client\":\"", Value::kClient);
  made.addText("\",\"request_id\":", {Text::kRequestId, {}}, true);
  made.addText(",\"site\":", {Text::kSite, {}}, true);
  made.addText(",\"user\":", {Text::kUser, {}}, true);
  made.addText(",\"method\":", {Text::kMethod, {}}, true);
  made.add(",\"scheme\":\"", Value::kScheme);
  made.addText("\",\"host\":", {Text::kHost, {}}, true);
  made.addText(",\"target\":", {Text::kTarget, {}}, true);
  made.add(",\"protocol\":", Value::kProtocol, true);
  made.add(",\"status\":", Value::kStatus);
  made.add(",\"bytes\":", Value::kBytes);
  made.add(",\"duration_ms\":", Value::kDurationMs);
  made.add(",\"upstream_ms\":", Value::kUpstreamMs, true);
  made.addText(",\"referer\":", {Text::kReferer, {}}, true);
  made.addText(",\"user_agent\":", {Text::kUserAgent, {}}, true);
  made.add(",\"aborted\":", Value::kAborted);
  made.after_ = Literal("}\n");
  return made;
}

bool LineFormat::addNamed(std::string before, std::string_view name) {
  constexpr std::pair<std::string_view, Value> kValues[] = {{"time", Value::kTime},
                                                            {"time_local", Value::kTimeLocal},
                                                            {"time_unix", Value::kTimeUnix},
                                                            {"client", Value::kClient},
                                                            {"client_port", Value::kClientPort},
                                                            {"request", Value::kRequest},
                                                            {"scheme", Value::kScheme},
                                                            {"protocol", Value::kProtocol},
                                                            {"status", Value::kStatus},
                                                            {"bytes", Value::kBytes},
                                                            {"duration_ms", Value::kDurationMs},
                                                            {"duration_s", Value::kDurationSeconds},
                                                            {"upstream_ms", Value::kUpstreamMs},
                                                            {"aborted", Value::kAborted}};
  constexpr std::pair<std::string_view, Text> kTexts[] = {
      {"method", Text::kMethod},   {"target", Text::kTarget},        {"host", Text::kHost},
      {"path", Text::kPath},       {"query", Text::kQuery},          {"peer", Text::kPeer},
      {"user", Text::kUser},       {"request_id", Text::kRequestId}, {"site", Text::kSite},
      {"referer", Text::kReferer}, {"user_agent", Text::kUserAgent}};
  for (const auto& [word, value] : kValues) {
    if (word != name) continue;
    add(before, value);
    if (value == Value::kRequest) {
      method_text_ = textPlace({Text::kMethod, {}});
      target_text_ = textPlace({Text::kTarget, {}});
    }
    return true;
  }
  for (const auto& [word, text] : kTexts) {
    if (word != name) continue;
    addText(before, {text, {}});
    return true;
  }
  constexpr std::string_view kHeader = "header.";
  if (name.size() <= kHeader.size() || name.substr(0, kHeader.size()) != kHeader) return false;
  addText(before, {Text::kHeader, std::string(name.substr(kHeader.size()))});
  return true;
}

Result<LineFormat> LineFormat::compile(std::string_view format, Escape escape) {
  LineFormat made;
  made.escape_ = escape;
  std::string literal;
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    const bool brace = c == '{' || c == '}';
    if (brace && i + 1 < format.size() && format[i + 1] == c)
      ++i;
    else if (c == '}')
      return Status::error("a \"}\" without its \"{\"; write \"}}\" for the character");
    else if (c == '{') {
      const size_t end = format.find('}', i);
      if (end == std::string_view::npos) {
        return Status::error("a \"{\" without its \"}\"; write \"{{\" for the character");
      }
      const std::string_view name = format.substr(i + 1, end - i - 1);
      if (!made.addNamed(std::exchange(literal, {}), name))
        return Status::error(fmt::format("there is no variable \"{{{}}}\"", name));
      i = end;
      continue;
    }
    literal += c;
  }
  made.after_ = Literal(literal + '\n');
  if (made.texts_.size() > kMostTexts)
    return Status::error(fmt::format("more than {} different texts", kMostTexts));
  return made;
}

}  // namespace roost::modules::access_log
