// links: roost_tables
// Any bytes as a JSON document, as a string to be written in JSON and CSV, and as a Prefer field: what JSON
// is is agreed upon with another reader, what is written is read back as it was, and preferences say what was
// applied.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "support/fuzz_require.h"
#include "tables/json_text.h"
#include "tables/output.h"
#include "tables/preferences.h"
#include "tables/text_sink.h"

namespace {

using roost::test::require;

int depthOf(std::string_view text) {
  int depth = 0;
  int most = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return most;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::tables;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  // A byte order mark is passed over there, a NUL ends the text, and numbers beyond a double are refused.
  const bool accepted = nlohmann::json::accept(text);
  if (isJson(text)) {
    require(accepted || text.find_first_of("eE") != std::string_view::npos || size > 300);
  } else {
    require(!accepted || text.substr(0, 1) == "\xef" || text.find('\0') != std::string_view::npos ||
            depthOf(text) > kJsonDepth);
  }

  std::string written;
  appendJsonString(text, written);
  require(roost::isUtf8(written));
  const nlohmann::json read = nlohmann::json::parse(written, nullptr, false);
  require(read.is_string());
  if (roost::isUtf8(text)) require(read.get_ref<const std::string&>() == text);

  std::string csv;
  {
    TextSink sink(csv);
    putCsvText(sink, text);
  }
  require(roost::isUtf8(csv) && !csv.empty());
  if (csv[0] != '"') require(csv.find_first_of("\",\r\n") == std::string::npos);

  Preferences preferences;
  readPreferences(text, preferences);
  Preferences again;
  readPreferences(appliedPreferences(preferences, true), again);
  require(again.unknown.empty());
  require(again.returns == preferences.returns && again.count == preferences.count &&
          again.resolution == preferences.resolution && again.missing == preferences.missing &&
          again.rollback == preferences.rollback && again.strict == preferences.strict);
  return 0;
}
