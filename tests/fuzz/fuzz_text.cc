// links: roost_http
// Any bytes as a name in a page and in JSON, as a pattern and a path, as a weight: nothing of them means
// anything to a browser, what comes out is UTF-8, and matching ends.
#include <cstdint>
#include <string>
#include <string_view>

#include "http/accept.h"
#include "http/escape.h"
#include "http/field_syntax.h"
#include "http/glob.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;

void requireUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = roost::http::utf8Size(text);
    require(size > 0);
    text.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::http;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string html;
  appendHtml(html, text);
  requireUtf8(html);
  for (const char c : html) require(c != '<' && c != '>' && c != '"' && c != '\'' && (c & 0xe0) != 0);
  std::string json;
  appendJson(json, text);
  requireUtf8(json);
  require(json.size() >= 2 && json.front() == '"' && json.back() == '"');
  for (const char c : json) require((c & 0xe0) != 0);

  const std::string_view pattern = text.substr(0, size / 2);
  const std::string path = "/" + std::string(text.substr(size / 2));
  if (globMatches(pattern, path) && pattern.find_first_of("*?/") == std::string_view::npos) {
    require(path.substr(path.rfind('/') + 1) == pattern);
  }
  require(globMatches("/**", path));
  const int quality = parseQuality(text);
  require(quality >= 0 && quality <= 1000);
  if (isToken(text)) require(isFieldValue(text) && rangeCovers("*/*", text));
  return 0;
}
