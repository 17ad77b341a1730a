// links:
// A load generator for the benches: one thread, edge-triggered epoll, every response checked.
//
//   load --port P [--host 127.0.0.1] [--path /] [--mode keep-alive|close|pipelined|hold] [--connections 64]
//        [--seconds 3] [--warmup 0.3] [--depth 16] [--status 200] [--length N] [--sources 16] [--pid N]...
//        [--accept-encoding VALUE] [--sleep] [--copy-bodies] [--silent]
//
// Modes:
// - keep-alive: one request at a time per connection;
// - close: a new connection per request, which the server has to close;
// - pipelined: --depth requests in one write, then as many responses;
// - hold: opens --connections, sends one request on each (--silent: none), prints {"ready":...} and keeps
//   them until its standard input ends; the last line says how many the server closed meanwhile.
//
// A response counts only with the expected status and Content-Length, or chunked if the first was, and with
// all of its body; anything else is an error and ends its connection. Bodies longer than the read buffer are
// dropped in the kernel by MSG_TRUNC, unless --copy-bodies. The CPU time of the processes named by --pid, all
// their threads, is read at both ends of the measured window, so that it belongs to exactly the requests
// counted. The result is one line of JSON.
//
// It polls instead of sleeping: over loopback a server that wakes a sleeping client pays for that itself,
// with large bodies once per segment, which no server pays towards a client on another machine. --sleep
// sleeps.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load_options.h"
#include "load_response.h"

namespace roost::bench {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
constexpr int kMaxEvents = 512;
constexpr int64_t kSecondNs = 1000000000;

int64_t clockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

// Time of every thread of some processes together: on a CPU, and ready to run while something else had it.
struct CpuTime {
  int64_t ran_ns = 0;
  int64_t waited_ns = 0;
  CpuTime operator-(const CpuTime& other) const {
    return CpuTime{ran_ns - other.ran_ns, waited_ns - other.waited_ns};
  }
};

// By the scheduler's own account. REQUIRES: no thread ends between two calls whose difference is taken.
CpuTime cpuTimeOf(const std::vector<std::string>& pids) {
  CpuTime total;
  for (const std::string& pid : pids) {
    const std::string folder = "/proc/" + pid + "/task/";
    DIR* tasks = opendir(folder.c_str());
    if (tasks == nullptr) continue;
    while (const dirent* task = readdir(tasks)) {
      FILE* file =
          task->d_name[0] == '.' ? nullptr : fopen((folder + task->d_name + "/schedstat").c_str(), "re");
      if (file == nullptr) continue;
      long long ran_ns = 0, waited_ns = 0;
      if (fscanf(file, "%lld %lld", &ran_ns, &waited_ns) == 2) {
        total.ran_ns += ran_ns;
        total.waited_ns += waited_ns;
      }
      fclose(file);
    }
    closedir(tasks);
  }
  return total;
}

// The measured window: the clock on the wall, how much of it went into empty polls, the CPU time of both
// sides.
struct Window {
  int64_t wall_ns, idle_ns;
  CpuTime own, server;
};

struct Counters {
  uint64_t responses = 0, errors = 0, connects = 0, server_closes = 0, head_bytes = 0, body_bytes = 0;
};

struct Connection {
  int fd = -1;
  bool heard = false;        // anything received in the measured window
  bool last = false;         // the response being read says that the connection ends with it
  uint32_t outstanding = 0;  // responses still to come
  int64_t body_left = 0;     // of the response being read
  std::string partial;       // a head that has not come whole
  bool chunked = false;      // the response being read
  ChunkSkipper chunks;
};

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options),
        checker_(options.status, options.length),
        connections_(options.connections),
        buffer_(kBufferBytes) {
    const std::string request =
        "GET " + options.path + " HTTP/1.1\r\nHost: " + options.host + ":" + std::to_string(options.port) +
        (options.accept_encoding.empty() ? "" : "\r\nAccept-Encoding: ") + options.accept_encoding +
        (options.mode == Mode::kClose ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    per_write_ = options.mode == Mode::kPipelined ? static_cast<uint32_t>(options.depth) : 1;
    for (uint32_t i = 0; i < per_write_; ++i) requests_ += request;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    server_.sin_family = AF_INET;
    server_.sin_port = htons(options.port);
    inet_pton(AF_INET, options.host.c_str(), &server_.sin_addr);
  }

  int measure() {
    for (Connection& connection : connections_) open(connection);
    runFor(options_.warmup);
    for (Connection& connection : connections_) connection.heard = false;
    const Counters before = counters_;
    const Window start = clocks();
    runFor(options_.seconds);
    const Window end = clocks();
    print(before, Window{end.wall_ns - start.wall_ns, end.idle_ns - start.idle_ns, end.own - start.own,
                         end.server - start.server});
    return counters_.responses > before.responses ? 0 : 1;
  }

  int hold() {
    for (size_t i = 0; i < connections_.size(); ++i) {
      open(connections_[i]);
      if (i % 64 == 63) poll(0);  // keeps the server's accept queue short
    }
    const int64_t deadline = clockNs(CLOCK_MONOTONIC) + 30 * kSecondNs;
    while (!options_.silent && counters_.responses + counters_.errors < connections_.size() &&
           clockNs(CLOCK_MONOTONIC) < deadline) {
      poll(100);
    }
    printHeld("ready");
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) != 0) poll(50);
    printHeld("done");
    return 0;
  }

 private:
  void open(Connection& connection) {
    connection = Connection{};
    connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection.fd < 0) {
      perror("load: socket");
      exit(1);
    }
    bindSource(connection.fd);
    const int on = 1;
    setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Over loopback the handshake is over when connect returns, though it says EINPROGRESS.
    const int done = connect(connection.fd, reinterpret_cast<const sockaddr*>(&server_), sizeof server_);
    if (done != 0 && errno != EINPROGRESS) {
      ++counters_.errors;
      close(connection.fd);
      connection.fd = -1;
      retry_.push_back(static_cast<size_t>(&connection - connections_.data()));
      return;
    }
    ++counters_.connects;
    connection.heard = true;  // its predecessor was answered
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    event.data.u64 = static_cast<uint64_t>(&connection - connections_.data());
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
    if (!options_.silent) ask(connection);
  }

  // Many source addresses keep the search for a free local port short.
  void bindSource(int fd) {
    if (options_.sources == 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    sockaddr_in source{};
    source.sin_family = AF_INET;
    source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + next_source_++ % options_.sources);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof source) != 0) perror("load: bind");
  }

  void ask(Connection& connection) {
    connection.outstanding = per_write_;
    const ssize_t sent = send(connection.fd, requests_.data(), requests_.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(requests_.size())) fail(connection);
  }

  void fail(Connection& connection) {
    ++counters_.errors;
    reopen(connection);
  }

  void reopen(Connection& connection) {
    close(connection.fd);
    connection.fd = -1;
    if (options_.mode == Mode::kHold) return;
    retry_.push_back(static_cast<size_t>(&connection - connections_.data()));
  }

  Window clocks() const {
    return Window{clockNs(CLOCK_MONOTONIC), idle_ns_, cpuTimeOf({"self"}), cpuTimeOf(options_.pids)};
  }

  void runFor(double seconds) {
    int64_t now = clockNs(CLOCK_MONOTONIC);
    const int64_t end = now + static_cast<int64_t>(seconds * 1e9);
    while (now < end) {
      const bool worked = poll(options_.sleep ? 100 : 0);
      const int64_t then = std::exchange(now, clockNs(CLOCK_MONOTONIC));
      if (!worked && !options_.sleep) idle_ns_ += now - then;
    }
  }

  // Returns whether there was anything to do.
  bool poll(int timeout_ms) {
    for (const size_t index : std::exchange(retry_, {})) open(connections_[index]);
    epoll_event events[kMaxEvents];
    const int ready = epoll_wait(epoll_, events, kMaxEvents, timeout_ms);
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections_[events[i].data.u64];
      if (connection.fd >= 0)
        receive(connection, (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
    }
    return ready > 0;
  }

  // Reads until the socket is known to be empty: a short read says so, edge-triggered readiness brings us
  // back.
  void receive(Connection& connection, bool peer_closed) {
    for (;;) {
      const bool drop = !options_.copy_bodies && connection.body_left > static_cast<int64_t>(kBufferBytes);
      const size_t room =
          drop ? static_cast<size_t>(std::min<int64_t>(connection.body_left, 64 << 20)) : kBufferBytes;
      const ssize_t got = recv(connection.fd, buffer_.data(), room, drop ? MSG_TRUNC : 0);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return ended(connection);
      const auto bytes = static_cast<size_t>(got);
      connection.heard = true;
      if (drop) {
        body(connection, got);
      } else if (!consume(connection, std::string_view(buffer_.data(), bytes))) {
        return fail(connection);
      }
      if (connection.outstanding == 0) return answered(connection, peer_closed);
      if (bytes < room && !peer_closed) return;
    }
  }

  void body(Connection& connection, int64_t bytes) {
    connection.body_left -= bytes;
    counters_.body_bytes += static_cast<uint64_t>(bytes);
    if (connection.body_left > 0) return;
    ++counters_.responses;
    // A server may end a connection after so many requests, if it says so; what was pipelined behind is asked
    // again.
    connection.outstanding = connection.last ? 0 : connection.outstanding - 1;
  }

  bool consume(Connection& connection, std::string_view data) {
    if (!connection.partial.empty()) {
      connection.partial.append(data);
      joined_.swap(connection.partial);
      connection.partial.clear();
      data = joined_;
    }
    while (!data.empty()) {
      if (connection.chunked) {
        const size_t before = data.size();
        const auto state = connection.chunks.skip(&data);
        counters_.body_bytes += before - data.size();
        if (state == ChunkSkipper::State::kBad) return false;
        if (state == ChunkSkipper::State::kMore) continue;
        connection.chunked = false;
        body(connection, 0);
        continue;
      }
      if (connection.body_left > 0) {
        const auto taken = std::min<int64_t>(connection.body_left, static_cast<int64_t>(data.size()));
        data.remove_prefix(static_cast<size_t>(taken));
        body(connection, taken);
        continue;
      }
      if (connection.outstanding == 0) return false;
      size_t head_bytes = 0;
      const auto outcome = checker_.head(data, &head_bytes, &connection.body_left);
      if (outcome == ResponseChecker::Outcome::kBad) return false;
      if (outcome == ResponseChecker::Outcome::kPartial) {
        connection.partial.assign(data);
        return true;
      }
      data.remove_prefix(head_bytes);
      connection.last = checker_.shape().closes;
      connection.chunked = connection.body_left == kChunked;
      if (connection.chunked) connection.body_left = 0;
      if (connection.body_left == 0 && !connection.chunked) body(connection, 0);
    }
    return true;
  }

  void answered(Connection& connection, bool peer_closed) {
    if (options_.mode == Mode::kHold) return;
    if (options_.mode != Mode::kClose) return connection.last ? reopen(connection) : ask(connection);
    if (peer_closed) reopen(connection);  // otherwise the close comes as the next event
  }

  void ended(Connection& connection) {
    const bool expected = options_.mode == Mode::kClose && connection.outstanding == 0;
    if (!expected) ++counters_.server_closes;
    if (!expected && connection.outstanding != 0) ++counters_.errors;
    reopen(connection);
  }

  // Connections that wait for a response and had not a byte in the whole window: one of them was forgotten.
  long stalled() const {
    return std::count_if(connections_.begin(), connections_.end(),
                         [](const Connection& c) { return c.fd >= 0 && c.outstanding > 0 && !c.heard; });
  }

  void print(const Counters& before, const Window& window) const {
    const auto wall_ns = static_cast<double>(window.wall_ns);
    const auto server_ns = static_cast<double>(window.server.ran_ns);
    const double seconds = wall_ns / 1e9;
    const double responses = static_cast<double>(counters_.responses - before.responses);
    const double bytes = static_cast<double>(counters_.body_bytes - before.body_bytes);
    // Of large bodies few end inside the window, so parts count as parts.
    const auto length = static_cast<double>(checker_.shape().body_bytes);
    const double requests = length >= 262144 ? bytes / length : responses;
    // Polls were cut into by whatever the generator waited for.
    const int64_t idle_ns = std::max<int64_t>(window.idle_ns - window.own.waited_ns, 0);
    const auto worked_ns = static_cast<double>(std::max<int64_t>(window.own.ran_ns - idle_ns, 0));
    printf("{\"requests\": %.2f, \"seconds\": %.6f, \"requests_per_s\": %.2f, ", requests, seconds,
           requests / seconds);
    printf("\"errors\": %llu, \"stalled\": %ld, ", ull(counters_.errors - before.errors), stalled());
    printf("\"connects\": %llu, ", ull(counters_.connects - before.connects));
    printf("\"server_closes\": %llu, ", ull(counters_.server_closes - before.server_closes));
    printf("\"head_bytes\": %zu, \"body_bytes\": %.0f, ", checker_.shape().head_bytes, length);
    printf("\"server_cpu_us_per_request\": %.4f, ", requests > 0 ? server_ns / 1e3 / requests : 0.0);
    printf("\"server_busy\": %.4f, ", server_ns / wall_ns);
    printf("\"server_waiting\": %.4f, ", static_cast<double>(window.server.waited_ns) / wall_ns);
    printf("\"client_busy\": %.4f, ", worked_ns / wall_ns);
    printf("\"client_waiting\": %.4f, ", static_cast<double>(window.own.waited_ns) / wall_ns);
    printf("\"total_responses\": %llu}\n", ull(counters_.responses));
  }

  void printHeld(const char* word) const {
    const auto open_now = std::count_if(connections_.begin(), connections_.end(),
                                        [](const Connection& c) { return c.fd >= 0; });
    printf("{\"%s\": true, \"open\": %ld, \"responses\": %llu, \"errors\": %llu, \"server_closes\": %llu}\n",
           word, static_cast<long>(open_now), ull(counters_.responses), ull(counters_.errors),
           ull(counters_.server_closes));
    fflush(stdout);
  }

  static unsigned long long ull(uint64_t value) { return value; }

  const Options& options_;
  ResponseChecker checker_;
  std::vector<Connection> connections_;
  std::vector<char> buffer_;
  std::string requests_, joined_;
  std::vector<size_t> retry_;
  Counters counters_;
  sockaddr_in server_{};
  uint32_t per_write_ = 1, next_source_ = 0;
  int64_t idle_ns_ = 0;
  int epoll_ = -1;
};

}  // namespace
}  // namespace roost::bench

int main(int argc, char** argv) {
  using namespace roost::bench;
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (parseFlag(argv[i], &options)) continue;
    if (i + 1 >= argc || !parseValue(argv[i], argv[i + 1], &options)) {
      fprintf(stderr, "load: what is %s? See the head of load.cc.\n", argv[i]);
      return 2;
    }
    ++i;
  }
  signal(SIGPIPE, SIG_IGN);
  Load load(options);
  return options.mode == Mode::kHold ? load.hold() : load.measure();
}
