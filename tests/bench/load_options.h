// The load generator's command line; what the options mean stands at the top of load.cc.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace roost::bench {

enum class Mode { kKeepAlive, kClose, kPipelined, kHold };

struct Options {
  Mode mode = Mode::kKeepAlive;
  std::string host = "127.0.0.1";
  std::string path = "/";
  std::string accept_encoding;
  uint16_t port = 0;
  size_t connections = 64;
  size_t depth = 16;
  uint32_t sources = 16;
  double seconds = 3;
  double warmup = 0.3;
  int status = 200;
  int64_t length = -1;
  std::vector<std::string> pids;
  bool sleep = false;
  bool copy_bodies = false;
  bool silent = false;
};

inline bool parseMode(std::string_view text, Mode* mode) {
  if (text == "keep-alive")
    *mode = Mode::kKeepAlive;
  else if (text == "close")
    *mode = Mode::kClose;
  else if (text == "pipelined")
    *mode = Mode::kPipelined;
  else if (text == "hold")
    *mode = Mode::kHold;
  else
    return false;
  return true;
}

inline bool parseFlag(std::string_view name, Options* options) {
  if (name == "--sleep")
    options->sleep = true;
  else if (name == "--copy-bodies")
    options->copy_bodies = true;
  else if (name == "--silent")
    options->silent = true;
  else
    return false;
  return true;
}

inline bool parseValue(std::string_view name, const char* value, Options* options) {
  if (name == "--mode") return parseMode(value, &options->mode);
  if (name == "--host")
    options->host = value;
  else if (name == "--path")
    options->path = value;
  else if (name == "--accept-encoding")
    options->accept_encoding = value;
  else if (name == "--port")
    options->port = static_cast<uint16_t>(atoi(value));
  else if (name == "--connections")
    options->connections = strtoul(value, nullptr, 10);
  else if (name == "--depth")
    options->depth = strtoul(value, nullptr, 10);
  else if (name == "--sources")
    options->sources = static_cast<uint32_t>(atoi(value));
  else if (name == "--seconds")
    options->seconds = atof(value);
  else if (name == "--warmup")
    options->warmup = atof(value);
  else if (name == "--status")
    options->status = atoi(value);
  else if (name == "--length")
    options->length = atoll(value);
  else if (name == "--pid")
    options->pids.emplace_back(value);
  else
    return false;
  return true;
}

}  // namespace roost::bench
