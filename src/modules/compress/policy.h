#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/compression.h"

namespace roost::modules::compress {

// What one "compress" says. Immutable; shared by the routes below it; any thread but for onHead.
struct Options {
  http::CodingOrder order;
  std::vector<std::string> types;  // "text/html", "text/*", "*+json"; lower case
  uint64_t min_bytes = 1024;
  std::array<int, http::kCodingCount> levels{};
  uint64_t max_kept_bytes = 4 << 20;
  size_t max_streams = 128;
};

// Chooses which answers are coded and how, and codes them.
class Policy final : public http::Compression {
 public:
  explicit Policy(const Options& options);

  bool applies(std::string_view content_type, int64_t size) const noexcept override;
  bool encode(http::Coding coding, std::string_view content, std::string& out) const noexcept override;
  void onHead(http::Exchange& exchange, http::ResponseHead& head, bool fin) const noexcept override;

 private:
  bool isWorthy(std::string_view content_type) const noexcept;
  int level(http::Coding coding) const noexcept { return levels_[static_cast<size_t>(coding)]; }

  std::vector<std::string> types_;     // whole
  std::vector<std::string> kinds_;     // "text/"
  std::vector<std::string> suffixes_;  // "+json"
  const uint64_t min_bytes_;
  const std::array<int, http::kCodingCount> levels_;
  const size_t max_streams_;
};

}  // namespace roost::modules::compress
