#include "server/explain.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include "base/unique_fd.h"
#include "event/loop.h"
#include "event/task_pool.h"
#include "http/h1/protocol.h"
#include "http/loop_context.h"
#include "net/io_context.h"
#include "server/database_host.h"
#include "server/push_host.h"
#include "server/push_ticker.h"

namespace roost::server {
namespace {

constexpr size_t kTaskQueueLimit = 64;
constexpr int kTurnMs = 20;  // longest wait for the loop between two looks at the answer

// The value of a field in a head, empty where it is not there.
std::string_view fieldOf(std::string_view head, std::string_view name_lower) noexcept {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at)) {
    at += 2;
    const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
    const size_t colon = line.find(':');
    if (colon != name_lower.size()) continue;
    const bool same = std::equal(name_lower.begin(), name_lower.end(), line.begin(), [](char a, char b) {
      return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
    });
    if (same) return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return {};
}

uint64_t numberOf(std::string_view text, int base) noexcept {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// The server's parts that answer a request, on one loop of this thread. Its end is that of an IO thread.
class Bench {
 public:
  Bench(const ServerConfig& config, module::Registry& registry, std::unique_ptr<event::Loop> loop,
        push::Hub* hub, DatabaseHost& database)
      : registry_(registry),
        database_(database),
        loop_(std::move(loop)),
        tasks_(config.task_threads, kTaskQueueLimit),
        io_(*loop_),
        context_(io_, tasks_),
        protocol_(context_) {
    io_.setLingerMs(0);
    io_.setFactory(0, protocol_);
    context_.setService(config.service);
    if (hub != nullptr) push_ticker_.emplace(*loop_, hub->shard(0)).start();
    database_.startLoop(*loop_);
    registry_.onLoopStart(context_);
  }
  ~Bench() {
    tasks_.stop();
    if (push_ticker_) push_ticker_->stop();
    io_.closeAll();
    loop_->runOnce(0);  // what the tasks have posted
    io_.closeAll();
    registry_.onLoopStop(context_);
    database_.stopLoop(*loop_);
    database_.stop();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Status ask(const ExplainRequest& request, http::Trace& trace, AnswerReader& reader);

 private:
  static bool read(int fd, AnswerReader& reader);

  module::Registry& registry_;
  DatabaseHost& database_;
  std::unique_ptr<event::Loop> loop_;
  event::TaskPool tasks_;
  net::IoContext io_;
  http::LoopContext context_;
  http::h1::Protocol protocol_;
  std::optional<PushTicker> push_ticker_;
};

Status Bench::ask(const ExplainRequest& request, http::Trace& trace, AnswerReader& reader) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Status::fromErrno(errno, "socketpair");
  const UniqueFd mine(ends[0]);
  const std::string wire = request.wire();
  if (::send(mine.get(), wire.data(), wire.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(wire.size())) {
    ::close(ends[1]);
    return Status::error("the request is too long");
  }
  context_.setTrace(&trace);
  io_.adopt({ends[1], request.client, 0});
  const int64_t deadline_ns = loop_->nowNs() + int64_t{kExplainMs} * 1'000'000;
  while (!reader.done() && read(mine.get(), reader) && loop_->nowNs() < deadline_ns) loop_->runOnce(kTurnMs);
  context_.setTrace(nullptr);
  return {};
}

// False: the server has closed its end.
bool Bench::read(int fd, AnswerReader& reader) {
  std::array<char, 64 << 10> bytes;
  for (;;) {
    const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
      reader.end();
      return false;
    }
    reader.take({bytes.data(), static_cast<size_t>(n)});
    if (reader.done()) return true;
  }
}

}  // namespace

void AnswerReader::take(std::string_view bytes) {
  buffer_ += bytes;
  while (!has_head_) {
    if (!takeHead()) return;
  }
  takeContent();
}

void AnswerReader::end() noexcept {
  if (has_head_ && until_close_) answer_.complete = true;
  answer_.given_up = !answer_.complete;
}

// Whether there was one.
bool AnswerReader::takeHead() {
  const size_t end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  std::string head = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  const uint64_t status = numberOf(std::string_view(head).substr(std::min<size_t>(9, head.size()), 3), 10);
  if (status < 200 && status != 101) {
    answer_.interim.push_back(std::move(head));
    return true;
  }
  const std::string_view length = fieldOf(head, "content-length");
  chunked_ = fieldOf(head, "transfer-encoding") == "chunked";
  until_close_ = !chunked_ && length.empty();
  left_ = numberOf(length, 10);
  has_head_ = true;
  const bool empty = head_only_ || status == 101 || status == 204 || status == 304 ||
                     (!chunked_ && !until_close_ && left_ == 0);
  answer_.head = std::move(head);
  answer_.complete = empty;
  return true;
}

void AnswerReader::takeContent() {
  if (answer_.complete) return;
  if (!chunked_) {
    const std::string_view content = std::string_view(buffer_).substr(
        0, until_close_ ? buffer_.size() : static_cast<size_t>(std::min<uint64_t>(left_, buffer_.size())));
    keep(content);
    if (!until_close_) left_ -= content.size();
    answer_.complete = !until_close_ && left_ == 0;
    buffer_.clear();
    return;
  }
  size_t at = 0;
  for (;;) {
    const size_t line_end = buffer_.find("\r\n", at);
    if (line_end == std::string::npos) break;
    const uint64_t size = numberOf(std::string_view(buffer_).substr(at, line_end - at), 16);
    if (size > Answer::kMostBytes || buffer_.size() < line_end + 2 + size + 2) break;
    keep(std::string_view(buffer_).substr(line_end + 2, static_cast<size_t>(size)));
    at = line_end + 2 + static_cast<size_t>(size) + 2;
    if (size == 0) answer_.complete = true;
    if (size == 0) break;
  }
  buffer_.erase(0, at);
}

void AnswerReader::keep(std::string_view content) {
  if (answer_.begin.size() < Answer::kShownBytes)
    answer_.begin += content.substr(0, Answer::kShownBytes - answer_.begin.size());
  answer_.content_bytes += content.size();
}

Result<Explanation> explain(const ServerConfig& config, config::Node root, module::Registry& registry,
                            Sys& sys, const ExplainRequest& request) {
  auto loop = event::Loop::create(sys, 0);
  if (!loop.ok()) return loop.status();
  metrics::Registry metrics;
  std::unique_ptr<PushHost> push_host;
  if (registry.usesPush()) {
    push_host = std::make_unique<PushHost>(config.push, 1, sys);
    push_host->setLoop(0, *loop.value());
  }
  push::Hub* const hub = push_host != nullptr ? &push_host->hub() : nullptr;
  DatabaseHost database;
  Status status;
  if (registry.usesDatabase()) status = database.open(root, 1, metrics);
  if (status.ok()) status = registry.start({sys, 1, root, &metrics, hub, nullptr});
  if (!status.ok()) return status;
  Explanation explanation;
  AnswerReader reader(request.method == "HEAD");
  {
    Bench bench(config, registry, std::move(loop).value(), hub, database);
    status = bench.ask(request, explanation.trace, reader);
  }
  registry.stop();
  if (!status.ok()) return status;
  explanation.answer = reader.answer();
  return explanation;
}

}  // namespace roost::server
