#include "modules/static_files/file_sender.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

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

void FileSender::send(http::Exchange& exchange, FileContent content) {
  std::unique_ptr<FileSender> sender(new FileSender(exchange, std::move(content)));
  FileSender& borrowed = *sender;
  exchange.listen(std::move(sender));
  if (exchange.listener() == &borrowed) borrowed.step();  // else it is over already
}

// A request's body means nothing to a file; it is read away, so that it does not stop the connection.
void FileSender::onBody(std::string_view piece, bool) noexcept {
  exchange_.consumed(piece.size());
}

void FileSender::onWritable() noexcept {
  if (!warming_) step();
}

void FileSender::onWarm(http::Exchange& exchange) {
  auto& sender = static_cast<FileSender&>(*exchange.listener());
  sender.warming_ = false;
  sender.step();
}

FileSender::~FileSender() {
  loop_.cancel(*this);
}

void FileSender::onTimer() noexcept {
  warming_ = false;
  step();
}

// False: there are no task threads, and the loop has to read by itself.
bool FileSender::beginWarming(uint64_t offset, uint64_t size) {
  warming_ = true;
  if (warmUp(exchange_, content_.full_path, offset, size, &FileSender::onWarm)) {
    warmed_ = true;
  } else if (exchange_.context().tasks().hasThreads()) {
    loop_.armIn(*this, kRetryAfter);
  } else {
    warming_ = false;
  }
  return warming_;
}

void FileSender::step() noexcept {
  Sys& sys = loop_.sys();
  while (next_part_ < content_.parts.size()) {
    FilePart& part = content_.parts[next_part_];
    const uint64_t offset = part.offset;
    const uint64_t window = std::min(part.size, kWindowBytes);
    if (!warmed_ && !isWarm(sys, content_.file.fd(), offset, window) && beginWarming(offset, window)) return;
    warmed_ = false;
    if (!part.head.empty()) exchange_.send(std::exchange(part.head, {}), false);
    part.offset += window;
    part.size -= window;
    if (part.size == 0) ++next_part_;
    const bool last = next_part_ == content_.parts.size() && content_.end.empty();
    if (exchange_.sendFile(content_.file, offset, window, last) != http::SendResult::kAccepted || last)
      return;
  }
  exchange_.send(content_.end, true);
}

}  // namespace roost::modules::static_files
