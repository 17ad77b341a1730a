// links: roost_config
// The configuration reader: it never throws, hangs or accepts what the schema forbids, and a dump loads again
// to itself.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config.h"

using namespace roost;
using namespace roost::config;

namespace {

constexpr std::string_view kHandler =
    R"({"type": "object", "additionalProperties": false, "description": "", "properties": {
  "root": {"type": ["string", "null"], "default": null, "x-path": true, "x-inherit": "/http/root_path", "description": ""},
  "index": {"type": "array", "default": [], "items": {"type": "string"}, "description": ""}}})";

void require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

Surroundings smallWorld() {
  Surroundings world;
  world.env = [](const std::string& name) -> std::optional<std::string> {
    if (name == "N") return "80";
    if (name == "B") return "\xff\x01";
    if (name == "R") return "${R}";
    return std::nullopt;
  };
  world.files = [](const std::string& path) -> Result<std::string> {
    if (path == "/c/a") return std::string(R"({"port": 1, "log": {"level": "WARN"}, "blocks_ip": ["::1"]})");
    if (path == "/c/loop") return std::string(R"({"include": ["a", "loop"]})");
    if (path == "/c/broken") return std::string(R"({"port": )");
    return Status::error("no such file");
  };
  return world;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Result<Schema> schema = Schema::assemble(
      coreSchemaText(), {{"static", kHandler}, {"other", kHandler}, {"filter", kHandler, false}});
  static const Surroundings world = smallWorld();
  require(schema.ok(), "the schema", schema.status().message());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const LoadResult result = loadText(text, "/c/fuzz.json", schema.value(), world);
  require(result.ok() == result.errors.empty(), "either a configuration or errors", result.errorText());
  for (const Diagnostic& error : result.errors) {
    require(!error.message.empty() && !error.where.file.empty(), "an error says what and where",
            error.toString());
    require(error.where.line >= 0 && error.where.column >= (error.where.line > 0 ? 1 : 0), "a place",
            error.toString());
    // Whatever the schema forbids is found, in better words, before the validating library is asked.
    require(error.message.find("against the schema") != 0, "the two checks agree", error.toString());
  }
  if (!result.ok()) return 0;
  const std::string dump = result.config->dump();
  const LoadResult again = loadText(dump, "/c/fuzz.json", schema.value(), world);
  require(again.ok(), "a dump loads", again.errorText() + dump);
  require(again.config->dump() == dump, "a dump loads to the same", dump + again.config->dump());
  return 0;
}
