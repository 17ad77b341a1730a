#include "modules/static_files/file_sender.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace roost::modules::static_files {
namespace {

constexpr uint64_t kProbeStep = 256 << 10;

// Reads a file's bytes and forgets them.
void readThrough(Sys& sys, const std::string& path, uint64_t offset, uint64_t size) {
  const int fd = sys.openAt(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return;
  std::vector<char> buffer(static_cast<size_t>(std::min(size, kProbeStep)));
  while (size > 0) {
    const size_t asked = static_cast<size_t>(std::min<uint64_t>(size, buffer.size()));
    const ssize_t n = sys.readAt(fd, buffer.data(), asked, static_cast<int64_t>(offset));
    if (n == -EINTR) continue;
    if (n <= 0) break;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<uint64_t>(n);
  }
  sys.closeFd(fd);
}

}  // namespace

bool isWarm(Sys& sys, int fd, uint64_t offset, uint64_t size) noexcept {
  const uint64_t end = offset + size;
  for (uint64_t at = offset; at < end; at += kProbeStep) {
    char byte;
    if (sys.readAtNoWait(fd, &byte, 1, static_cast<int64_t>(at)) == -EAGAIN) return false;
  }
  return true;
}

bool warmUp(http::Exchange& exchange, std::string full_path, uint64_t offset, uint64_t size,
            void (*next)(http::Exchange&)) {
  Sys& sys = exchange.context().loop().sys();
  std::unique_ptr<event::Task> task =
      event::makeTask([&sys, path = std::move(full_path), offset, size, next, handle = exchange.handle()] {
        readThrough(sys, path, offset, size);
        handle.post(next);
      });
  return exchange.context().tasks().submit(task);
}

void FileSender::send(http::Exchange& exchange, FileRange range) {
  Sys& sys = exchange.context().loop().sys();
  if (range.size <= kWindowBytes && isWarm(sys, range.file.fd(), range.offset, range.size)) {
    exchange.sendFile(std::move(range.file), range.offset, range.size, true);
    return;
  }
  std::unique_ptr<FileSender> sender(new FileSender(exchange, std::move(range)));
  FileSender& borrowed = *sender;
  exchange.listen(std::move(sender));
  borrowed.step();
}

void FileSender::step() noexcept {
  Sys& sys = exchange_.context().loop().sys();
  while (range_.size > 0) {
    const uint64_t window = std::min(range_.size, kWindowBytes);
    if (!warmed_ && !isWarm(sys, range_.file.fd(), range_.offset, window)) {
      warmed_ = true;
      const auto resume = [](http::Exchange& exchange) {
        static_cast<FileSender*>(exchange.listener())->step();
      };
      if (warmUp(exchange_, range_.full_path, range_.offset, window, resume)) return;
    }
    warmed_ = false;
    const uint64_t offset = range_.offset;
    range_.offset += window;
    range_.size -= window;
    const bool last = range_.size == 0;
    if (exchange_.sendFile(range_.file, offset, window, last) != http::SendResult::kAccepted) return;
  }
}

}  // namespace roost::modules::static_files
