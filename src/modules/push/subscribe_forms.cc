#include "modules/push/subscribe_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "http/ascii.h"
#include "http/framed.h"
#include "http/ws/frame.h"
#include "http/ws/utf8.h"

namespace roost::modules::push {
namespace {

bool breaksLine(char c) noexcept {
  return c == '\r' || c == '\n' || c == '\0';
}

// One line of text, whatever was published.
std::string lineOf(std::string_view text) {
  std::string line(text);
  line.erase(std::remove_if(line.begin(), line.end(), breaksLine), line.end());
  return line;
}

// Calls fn(line) for each line of the payload; one that ends with a line break has an empty line behind it.
template <class Fn>
void forEachLine(std::string_view payload, Fn&& fn) {
  for (;;) {
    const size_t end = payload.find_first_of("\r\n");
    fn(payload.substr(0, end));
    if (end == std::string_view::npos) return;
    const size_t broken = payload.substr(end, 2) == "\r\n" ? 2 : 1;
    payload.remove_prefix(end + broken);
  }
}

BufferRef event(std::string_view id, std::string_view name, std::string_view payload) {
  constexpr std::string_view kData = "data: ";
  std::string head = "id: " + lineOf(id) + "\n";
  if (const std::string line = lineOf(name); !line.empty()) head += "event: " + line + "\n";
  size_t size = head.size() + 1;
  forEachLine(payload, [&](std::string_view line) { size += kData.size() + line.size() + 1; });
  char* out = nullptr;
  BufferRef framed = http::makeFramed(size, out);
  if (!framed) return framed;
  const auto put = [&out](std::string_view text) {
    if (!text.empty()) std::memcpy(out, text.data(), text.size());
    out += text.size();
  };
  put(head);
  forEachLine(payload, [&](std::string_view line) {
    put(kData);
    put(line);
    put("\n");
  });
  put("\n");
  return framed;
}

BufferRef frame(bool text, std::string_view head, std::string_view payload) {
  char header[http::ws::kMaxFrameHeader];
  const auto opcode = text ? http::ws::Opcode::kText : http::ws::Opcode::kBinary;
  const size_t begins = http::ws::writeFrameHeader(header, opcode, true, false, head.size() + payload.size());
  BufferRef block = BufferRef::allocateForPeer(begins + head.size() + payload.size());
  if (!block) return block;
  char* out = block.mutableData();
  std::memcpy(out, header, begins);
  if (!head.empty()) std::memcpy(out + begins, head.data(), head.size());
  if (!payload.empty()) std::memcpy(out + begins + head.size(), payload.data(), payload.size());
  return block;
}

bool isUtf8(std::string_view bytes) noexcept {
  http::ws::Utf8Check check;
  return check.add(bytes.data(), bytes.size()) && check.complete();
}

bool isText(const hub::Message& message) noexcept {
  std::string_view type = message.contentType();
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return !http::equalsToken(type, "application/octet-stream") && isUtf8(message.payload().view());
}

std::string metaHead(std::string_view id, std::string_view type, std::string_view name) {
  std::string head = "id: " + lineOf(id) + "\n";
  if (!type.empty()) head += "content-type: " + lineOf(type) + "\n";
  if (!name.empty()) head += "event: " + lineOf(name) + "\n";
  return head + "\n";
}

}  // namespace

BufferRef encodeEvent(const hub::Message& message) {
  return event(message.id().text(), message.event(), message.payload().view());
}

BufferRef encodePlainFrame(const hub::Message& message) {
  return frame(isText(message), {}, message.payload().view());
}

BufferRef encodeMetaFrame(const hub::Message& message) {
  const std::string head = metaHead(message.id().text(), message.contentType(), message.event());
  return frame(isText(message) && isUtf8(head), head, message.payload().view());
}

BufferRef encodeNchanFrame(const hub::Message& message) {
  const std::string head = metaHead(message.id().text(), message.contentType(), {});
  return frame(isText(message) && isUtf8(head), head, message.payload().view());
}

std::string gapJson(const hub::Gap& gap) {
  const std::string missed = gap.missed == 0 ? "null" : std::to_string(gap.missed);
  return fmt::format(R"({{"after":"{}","missed":{}}})", gap.after.text(), missed);
}

BufferRef gapEvent(const hub::Gap& gap) {
  return event(gap.position.text(), "gap", gapJson(gap));
}

BufferRef gapFrame(const hub::Gap& gap, Form form) {
  const std::string json = gapJson(gap);
  if (form == kMetaFrameForm) return frame(true, metaHead(gap.position.text(), {}, "gap"), json);
  const std::string head = form == kNchanFrameForm ? metaHead(gap.position.text(), {}, {}) : std::string();
  return frame(true, head, R"({"event":"gap",)" + json.substr(1));
}

BufferRef positionFrame(const hub::MessageId& position) {
  return frame(true, "position: " + position.text() + "\n\n", {});
}

}  // namespace roost::modules::push
