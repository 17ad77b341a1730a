#include "modules/access/address_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/unique_fd.h"

namespace roost::modules::access {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r\f\v";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

Result<std::vector<AddressLine>> parseAddressLines(std::string_view text, const std::string& name) {
  std::vector<AddressLine> lines;
  std::string first_error;
  size_t errors = 0;
  for (uint32_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view entry = trimmed(line.substr(0, line.find('#')));
    if (entry.empty()) continue;
    const auto network = net::Cidr::parse(entry);
    if (network.ok()) {
      lines.push_back({*network, number});
    } else if (errors++ == 0) {
      first_error = fmt::format("{}:{}: {}", name, number, network.status().message());
    }
    if (lines.size() > kMaxAddressLines) {
      return Status::error(fmt::format("{}:{}: more than {} addresses", name, number, kMaxAddressLines));
    }
  }
  if (errors == 0) return lines;
  if (errors > 1) first_error += fmt::format(" (and {} more such lines)", errors - 1);
  return Status::error(std::move(first_error));
}

Result<std::vector<AddressLine>> readAddressFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return Status::fromErrno(errno, path);
  std::string text;
  char piece[64 << 10];
  while (true) {
    const ssize_t size = ::read(fd.get(), piece, sizeof piece);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Status::fromErrno(errno, path);
    if (size == 0) return parseAddressLines(text, path);
    text.append(piece, static_cast<size_t>(size));
    if (text.size() > kMaxAddressFileBytes) {
      return Status::error(fmt::format("{}: larger than {} MiB", path, kMaxAddressFileBytes >> 20));
    }
  }
}

}  // namespace roost::modules::access
