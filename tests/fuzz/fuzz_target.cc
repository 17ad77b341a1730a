// links: roost_http
// Any bytes as the path of a target: decodePath must agree with the plain implementation, keep its promises,
// and give the same path again for the text appendEncodedPath makes of it.
#include <memory>
#include <string>
#include <string_view>

#include "http/target.h"
#include "support/fuzz_require.h"
#include "unit/http/naive_path.h"

namespace {

using roost::test::require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  const std::unique_ptr<char[]> out(new char[size + 1]);
  const roost::http::DecodedPath path = roost::http::decodePath(raw, out.get(), size + 1);
  const auto expected = roost::http::test::naivePath(raw);
  require(path.ok() == expected.has_value());
  require(!roost::http::pathErrorText(path.error).empty());
  if (!path.ok()) return 0;

  const std::string text(out.get(), path.size);
  require(text == *expected && out[path.size] == '\0');
  require(text[0] == '/' && text.find("//") == std::string::npos && text.find('\0') == std::string::npos);
  require((text + "/").find("/../") == std::string::npos && (text + "/").find("/./") == std::string::npos);
  require(path.changed == (text != raw) && path.ends_with_slash == (text.back() == '/'));

  std::string encoded;
  roost::http::appendEncodedPath(encoded, text);
  const std::unique_ptr<char[]> again(new char[encoded.size() + 1]);
  const roost::http::DecodedPath second = roost::http::decodePath(encoded, again.get(), encoded.size() + 1);
  require(second.ok() && std::string_view(again.get(), second.size) == text);
  return 0;
}
