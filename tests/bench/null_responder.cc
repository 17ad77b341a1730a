// links:
// The floor of this kernel for a server on epoll: it reads whatever is there and writes a fixed reply,
// parsing nothing. One thread, one process; standalone on purpose, so that nothing of the server can make the
// floor higher or lower.
//
//   null_responder --port P [--body-bytes N] [--status 200] [--close | --pipelined]
//
// --body-bytes N  the reply's body (default 100); the head is as long as a static file's usual head
// --close         short connections: reply, then close
// --pipelined     one reply per "\r\n\r\n" seen, all replies to one read in one write
// Per request: one read, one write and a share of epoll_wait. Per connection besides: accept4, epoll_ctl,
// close.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kMaxEvents = 512;
constexpr size_t kReadBytes = 16384;
constexpr size_t kMaxReplies = 256;  // replies gathered into one write

struct Options {
  uint16_t port = 0;
  size_t body_bytes = 100;
  int status = 200;
  bool close_after_reply = false;
  bool pipelined = false;
};

std::string makeReply(const Options& options) {
  std::string reply = options.status == 404 ? "HTTP/1.1 404 Not Found\r\n" : "HTTP/1.1 200 OK\r\n";
  reply +=
      "Server: null\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Type: text/plain; charset=utf-8\r\n";
  reply += "Content-Length: " + std::to_string(options.body_bytes) + "\r\n";
  reply +=
      "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"6955b900-264\"\r\nAccept-Ranges: bytes\r\n";
  reply += options.close_after_reply ? "Connection: close\r\n\r\n" : "\r\n";
  reply.append(options.body_bytes, 'x');
  return reply;
}

// Counts ends of heads; `matched` carries how much of "\r\n\r\n" the previous read of this connection ended
// with.
size_t countHeadEnds(const char* data, size_t size, uint8_t* matched) {
  static constexpr char kEnd[] = "\r\n\r\n";
  size_t count = 0;
  size_t at = 0;
  while (at < size) {
    if (*matched == 0) {
      const void* found = memchr(data + at, '\r', size - at);
      if (found == nullptr) return count;
      at = static_cast<size_t>(static_cast<const char*>(found) - data);
    }
    const char c = data[at++];
    if (c != kEnd[*matched]) {
      *matched = c == '\r' ? 1 : 0;
    } else if (++*matched == 4) {
      *matched = 0;
      ++count;
    }
  }
  return count;
}

class NullResponder {
 public:
  explicit NullResponder(const Options& options) : options_(options), one_(makeReply(options).size()) {
    const size_t copies = options.pipelined ? kMaxReplies : 1;
    for (size_t i = 0; i < copies; ++i) replies_ += makeReply(options);
  }

  bool listenOn(uint16_t port) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
    if (listen(listener_, 4096) != 0) return false;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    return watch(listener_);
  }

  [[noreturn]] void run() {
    epoll_event events[kMaxEvents];
    for (;;) {
      const int ready = epoll_wait(epoll_, events, kMaxEvents, -1);
      for (int i = 0; i < ready; ++i) {
        if (events[i].data.fd == listener_) {
          acceptAll();
        } else {
          answer(events[i].data.fd);
        }
      }
    }
  }

 private:
  bool watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
  }

  void acceptAll() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const auto slot = static_cast<size_t>(fd);
      if (slot >= matched_.size()) matched_.resize(slot + 1024);
      matched_[slot] = 0;
      if (!watch(fd)) close(fd);
    }
  }

  void answer(int fd) {
    const ssize_t got = read(fd, input_, sizeof input_);
    if (got <= 0) {
      if (got == 0 || errno != EAGAIN) close(fd);
      return;
    }
    size_t bytes = one_;
    if (options_.pipelined) {
      bytes = one_ * countHeadEnds(input_, static_cast<size_t>(got), &matched_[static_cast<size_t>(fd)]);
      if (bytes == 0) return;
    }
    // A reply the socket buffer cannot take whole is no use as a floor: such a connection is dropped, the
    // client sees it.
    const bool whole =
        bytes <= replies_.size() && write(fd, replies_.data(), bytes) == static_cast<ssize_t>(bytes);
    if (!whole || options_.close_after_reply) close(fd);
  }

  const Options options_;
  const size_t one_;
  std::string replies_;
  std::vector<uint8_t> matched_;
  int listener_ = -1;
  int epoll_ = -1;
  char input_[kReadBytes];
};

int usage(const char* program) {
  fprintf(stderr, "usage: %s --port P [--body-bytes N] [--status 200|404] [--close | --pipelined]\n",
          program);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--close") {
      options.close_after_reply = true;
    } else if (name == "--pipelined") {
      options.pipelined = true;
    } else if (i + 1 < argc && name == "--port") {
      options.port = static_cast<uint16_t>(atoi(argv[++i]));
    } else if (i + 1 < argc && name == "--body-bytes") {
      options.body_bytes = strtoul(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && name == "--status") {
      options.status = atoi(argv[++i]);
    } else {
      return usage(argv[0]);
    }
  }
  if (options.port == 0) return usage(argv[0]);
  signal(SIGPIPE, SIG_IGN);
  static NullResponder responder(options);
  if (!responder.listenOn(options.port)) {
    perror("null_responder");
    return 1;
  }
  responder.run();
}
