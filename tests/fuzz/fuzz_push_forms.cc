// links: roost_modules_push roost_sim
// The message's type, "|", its event name, "|", its payload. Its event is read back as
// HTML section 9.2 says: whatever was published, there is one event, with this id, this name and this
// payload's lines. Its WebSocket frame with meta is taken apart likewise.
#include <string>
#include <string_view>
#include <vector>

#include "http/framed.h"
#include "http/ws/frame_decoder.h"
#include "modules/push/subscribe_forms.h"
#include "support/fuzz_require.h"

using namespace roost;                 // NOLINT
using namespace roost::modules::push;  // NOLINT
using test::require;

namespace {

struct Event {
  std::string id, name, data;
};

std::string_view takeLine(std::string_view& text) {
  const size_t end = text.find_first_of("\r\n");
  const std::string_view line = text.substr(0, end);
  const size_t broken = text.substr(end, 2) == "\r\n" ? 2 : 1;
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + broken);
  return line;
}

// A client's parser: any of CR, LF, CRLF ends a line.
std::vector<Event> readStream(std::string_view text) {
  std::vector<Event> events;
  Event event;
  while (!text.empty()) {
    const std::string_view line = takeLine(text);
    if (line.empty()) {
      if (!event.data.empty()) {
        event.data.pop_back();
        events.push_back(event);
      }
      event = {};
      continue;
    }
    const size_t colon = line.find(':');
    std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    const std::string_view field = line.substr(0, colon);
    require(field == "id" || field == "event" || field == "data");
    if (field == "id") event.id = value;
    if (field == "event") event.name = value;
    if (field == "data") event.data.append(value).append("\n");
  }
  require(event.data.empty());
  return events;
}

std::string normalized(std::string_view payload) {
  std::string text;
  for (size_t i = 0; i < payload.size(); ++i) {
    if (payload[i] != '\r') {
      text += payload[i];
    } else if (i + 1 == payload.size() || payload[i + 1] != '\n') {
      text += '\n';
    }
  }
  return text;
}

std::string oneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\r' && c != '\n' && c != '\0') line += c;
  }
  return line;
}

void checkMeta(const hub::Message& message, const std::string& type, const std::string& name) {
  std::string bytes(encodeMetaFrame(message).view());
  http::ws::FrameRules rules;
  rules.role = http::ws::Role::kClient;
  http::ws::FrameDecoder decoder;
  http::ws::FramePiece piece;
  require(decoder.next(bytes.data(), bytes.size(), rules, piece) == http::ws::FrameDecoder::Step::kPiece);
  require(piece.ends && piece.consumed == bytes.size());
  std::string expected = "id: " + message.id().text() + "\n";
  if (!message.contentType().empty()) expected += "content-type: " + type + "\n";
  if (!message.event().empty()) expected += "event: " + name + "\n";
  require(std::string_view(piece.data, piece.size) ==
          expected + "\n" + std::string(message.payload().view()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view type = text.substr(0, text.find('|'));
  text.remove_prefix(std::min(text.size(), type.size() + 1));
  const std::string_view name = text.substr(0, text.find('|'));
  text.remove_prefix(std::min(text.size(), name.size() + 1));
  const auto message = hub::Message::make({1763668666, 17, 0x5f3a9c01}, 0, BufferRef::copyOf(text),
                                          std::string(type), std::string(name), nullptr);
  const BufferRef framed = encodeEvent(*message);
  const std::vector<Event> events = readStream(http::contentOf(framed));
  require(events.size() == 1);
  require(events[0].id == message->id().text());
  require(events[0].name == oneLine(name));
  require(events[0].data == normalized(text));
  checkMeta(*message, oneLine(type), oneLine(name));
  return 0;
}
