// What the configuration tests share: the whole schema, and a world of files and variables held in memory.
#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "config/config.h"

namespace roost::config::test {

inline std::string fileText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Core and "static", as the program assembles them. The tests run in the source folder.
inline const Schema& fullSchema() {
  static const std::string kStatic = fileText("src/modules/static_files/schema.json");
  static Result<Schema> schema = Schema::assemble(coreSchemaText(), {{"static", kStatic}});
  return schema.value();
}

struct World {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;

  Surroundings surroundings() const {
    Surroundings s;
    s.env = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    s.files = [this](const std::string& path) -> Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return Status::error("the file does not exist");
      return found->second;
    };
    return s;
  }

  LoadResult load(const std::string& text, const std::string& name = "/srv/site/conf/t.json") const {
    return loadText(text, name, fullSchema(), surroundings());
  }
};

inline LoadResult loadString(const std::string& text) {
  return World().load(text);
}

// The errors without the file's folder, so that a test can say them shortly.
inline std::string errorsOf(const LoadResult& result) {
  std::string text = result.errorText();
  const std::string folder = "/srv/site/conf/";
  for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
  return text;
}

}  // namespace roost::config::test
