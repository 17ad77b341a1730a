// links: roost_modules_access_log
// Any bytes as the values of a record: each format makes one line of them, a JSON line can be read back, and
// what is read back is what went in, as far as it is UTF-8.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "modules/access_log/line_format.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost;                       // NOLINT
using namespace roost::modules::access_log;  // NOLINT

// A record of these texts, none of them absent.
std::string recordOf(const std::vector<std::string>& texts, uint8_t flags) {
  RecordHead head{};
  head.status = 200;
  head.flags = flags;
  std::string record(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::string& text : texts) {
    const auto size = static_cast<uint16_t>(text.size());
    record.append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  for (const std::string& text : texts) record += text;
  return record + std::string(16, '"');
}

// Reads a string of the JSON that putJsonEscaped writes; `at` is behind its first quote and ends behind its
// last.
std::string readString(std::string_view line, size_t& at) {
  std::string value;
  for (; line.at(at) != '"'; ++at) {
    const auto c = static_cast<unsigned char>(line[at]);
    require(c >= 0x20 && c != 0x7f);
    if (c != '\\') {
      value += line[at];
      continue;
    }
    const char kind = line.at(++at);
    if (kind == 'u') {
      const unsigned long code = std::stoul(std::string(line.substr(at + 1, 4)), nullptr, 16);
      at += 4;
      if (code < 0x80) {
        value += static_cast<char>(code);
      } else {
        value += '?';  // a control character, a separator, or no UTF-8
      }
    } else {
      require(std::string_view("\"\\nrt").find(kind) != std::string_view::npos);
      value += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
    }
  }
  ++at;
  return value;
}

bool isAscii(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

std::string lineOf(LineFormat format, const std::string& bytes, uint8_t flags) {
  const size_t count = format.texts().size();
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < bytes.size(); ++i) texts[i % count] += bytes[i];
  for (std::string& text : texts) text.resize(std::min<size_t>(text.size(), 300));
  // What is copied as it is was looked at before: it holds nothing else when it gets here.
  for (size_t i = 0; i < count; ++i) {
    if (!format.texts()[i].isHarmless()) continue;
    for (char& c : texts[i]) c = static_cast<char>('a' + static_cast<unsigned char>(c) % 26);
  }
  LineWriter writer(std::move(format));
  log::LineBuffer out;
  writer.appendLine(recordOf(texts, flags).data(), 1'795'176'000'123'456'789, out);
  const std::string line(out.data(), out.size());
  require(!line.empty() && line.find('\n') == line.size() - 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto flags = static_cast<uint8_t>(data[0] & 7);
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  for (const char c : lineOf(LineFormat::combined(), bytes, flags))
    require((c >= 0x20 && c < 0x7f) || c == '\n');
  lineOf(LineFormat::json(), bytes, flags);

  const std::string text = bytes.substr(0, 300);
  auto format = LineFormat::compile("{{\"a\":\"{target}\"}}", Escape::kJson);
  LineWriter writer(std::move(format).value());
  log::LineBuffer out;
  writer.appendLine(recordOf({text}, flags).data(), 0, out);
  const std::string_view line(out.data(), out.size());
  size_t at = 6;
  require(line.substr(0, at) == "{\"a\":\"");
  const std::string read = readString(line, at);
  require(line.substr(at) == "}\n");
  if (isAscii(text)) require(read == text);
  return 0;
}
