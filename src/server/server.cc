#include "server/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/memory.h"
#include "base/unique_fd.h"
#include "log/log.h"
#include "server/heap.h"

namespace roost::server {
namespace {

// How a person reaches it from this machine: a socket on every address is reached on the loopback address
// too. Where it is not HTTP that is spoken, who speaks stands in front: "tcp_echo:127.0.0.1:7".
std::string urlOf(const net::SocketAddress& address, const std::string& speaker) {
  std::string text = address.toString();
  if (!speaker.empty()) return speaker + ":" + text;
  if (address.family() == AF_UNIX) return text;
  const std::string port = text.substr(text.rfind(':'));
  const std::string host = text.substr(0, text.size() - port.size());
  if (host == "0.0.0.0") return "http://127.0.0.1" + port + "/";
  if (host == "[::]") return "http://[::1]" + port + "/";
  return "http://" + text + "/";
}

// The addresses of this machine's interfaces by which others may reach it, with `port`; at most kMost.
std::vector<std::string> networkUrls(int family, uint16_t port) {
  constexpr size_t kMost = 4;
  std::vector<std::string> urls;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return urls;
  for (const ifaddrs* entry = all; entry != nullptr && urls.size() < kMost; entry = entry->ifa_next) {
    const bool usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable || entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
    net::PeerAddr address = net::PeerAddr::from(entry->ifa_addr, sizeof(sockaddr_in6));
    const bool link_local = family == AF_INET6 && address.toString().compare(0, 5, "[fe80") == 0;
    address.port = port;
    if (!link_local) urls.push_back("http://" + address.toString() + "/");
  }
  ::freeifaddrs(all);
  return urls;
}

const char* signalName(int number) noexcept {
  switch (number) {
    case SIGINT:
      return "SIGINT";
    case SIGQUIT:
      return "SIGQUIT";
    default:
      return "SIGTERM";
  }
}

}  // namespace

Server::Server(ServerConfig config, config::Node root, module::Registry& registry, Sys& sys)
    : config_(std::move(config)), pid_file_(config_.pid_file), root_(root), registry_(registry), sys_(sys) {}

Server::~Server() {
  endThreads();
  if (stopper_.joinable()) stopper_.join();
  acceptors_.clear();
  threads_.clear();
  registry_.stop();
}

Status Server::open() {
  Status status = pid_file_.open();
  return status.ok() ? openListeners() : status;
}

Status Server::giveSockets(uid_t user, gid_t group) const {
  for (const net::SocketAddress& address : addresses_) {
    if (address.family() != AF_UNIX || address.isAbstract()) continue;
    const std::string path(address.unixPath());
    if (::lchown(path.c_str(), user, group) != 0)
      return Status::fromErrno(errno, "cannot give " + address.toString() + " to the server's user");
  }
  return {};
}

Status Server::start(bool gave_up_root) {
  memory::openReserve();
  auto loop = event::Loop::create(sys_, config_.io_threads);
  if (!loop.ok()) return loop.status();
  main_loop_ = std::move(loop).value();
  reserve_watch_ = std::make_unique<ReserveWatch>(*main_loop_);
  reserve_watch_->start();
  Status status = signals_.open(*main_loop_, *this);
  if (registry_.usesPush()) push_host_ = std::make_unique<PushHost>(config_.push, config_.io_threads, sys_);
  if (status.ok()) status = openDatabase();
  if (status.ok())
    status = registry_.start(
        {sys_, config_.io_threads, root_, &metrics_, hub(), database_.database(), gave_up_root});
  if (capsMemory()) makeMemoryWatch();
  if (status.ok()) status = openThreads();
  if (status.ok()) status = pid_file_.write();
  if (status.ok()) watchHeap();
  if (status.ok() && capsMemory()) startMemoryWatch();
  return status;
}

Status Server::openDatabase() {
  if (!registry_.usesDatabase()) return {};
  const AllSignalsBlocked blocked;
  Status status = database_.open(root_, config_.io_threads, metrics_);
  if (status.ok())
    LOG_INFO("mysql: {}{}", database_.description(),
             config_.own_fd_tables ? ", since fd_table is per_thread" : "");
  return status;
}

void Server::watchHeap() {
  const Status status = heap::start();
  if (!status.ok()) LOG_WARN("{}; the process keeps what it frees", status.message());
  heap_watch_ = std::make_unique<HeapWatch>(*main_loop_, metrics_);
  heap_watch_->start();
}

void Server::makeMemoryWatch() {
  memory_watch_ = std::make_unique<MemoryWatch>(*main_loop_, memory_load_, &memoryInUse);
  memory_watch_->setLoops(config_.io_threads, [this](net::MemoryRelief& relief) {
    for (const auto& thread : threads_) thread->relieve(relief);
  });
}

// When all threads run, which take address space that never becomes resident.
void Server::startMemoryWatch() {
  ProcessMemory now = readProcessMemory();
  now.address_space_bytes += config_.task_threads * heap::addressesPerThread();  // they have taken none yet
  const uint64_t usual = usualMemoryCap(readSystemFacts(), now);
  const uint64_t max_bytes = config_.max_memory_bytes.value_or(usual);
  if (max_bytes == 0) return;
  if (usual > 0 && max_bytes / 4 * 3 > usual) {
    LOG_WARN(
        "overload.max_memory_bytes is {}, of which the machine, the control group and the resource limits "
        "leave {} "
        "with a margin: memory may run out before that is noticed; lower it",
        max_bytes, usual);
  }
  metrics_
      .gauge({"roost_resident_limit_bytes", "Resident memory at which new requests are refused.", "bytes"})
      .set(static_cast<int64_t>(max_bytes));
  memory_watch_->start(max_bytes);
  // Nothing makes a full cache smaller, and what is near the cap takes no new clients.
  const auto cache_bytes = static_cast<uint64_t>(root_["http"]["file_cache"]["max_bytes"].asInt());
  if (cache_bytes * config_.io_threads > max_bytes / 4 * 3) {
    LOG_WARN(
        "the file caches of {} IO threads may grow to {} bytes, too near overload.max_memory_bytes ({}): "
        "once they are full, new clients are refused; lower http.file_cache.max_bytes",
        config_.io_threads, cache_bytes * config_.io_threads, max_bytes);
  }
}

Status Server::openListeners() {
  for (const net::ListenOptions& wanted : config_.listeners) {
    // The first socket chooses the port where that is left open; the others of its group share it. A Unix
    // socket's file belongs to one socket.
    const bool shared = config_.accept == AcceptMode::kReusePort && wanted.address.family() != AF_UNIX;
    net::ListenOptions options = wanted;
    options.reuse_port = shared;
    if (shared) {
      Status status = net::Listener::probe(sys_, options);
      if (!status.ok()) return status;
    }
    std::vector<net::Listener> group;
    for (uint32_t i = 0; i < (shared ? config_.io_threads : 1); ++i) {
      auto listener = net::Listener::open(sys_, options);
      if (!listener.ok()) return listener.status();
      options.address = listener->address();
      group.push_back(std::move(listener).value());
    }
    addresses_.push_back(options.address);
    opened_.push_back(std::move(group));
  }
  return {};
}

Status Server::openThreads() {
  const AllSignalsBlocked blocked;
  tasks_ = std::make_unique<event::TaskPool>(config_.task_threads, kTaskQueueLimit);
  for (uint32_t i = 0; i < config_.io_threads; ++i) {
    IoThreadOptions options;
    options.index = i;
    options.connection_limit = config_.connection_limit;
    options.linger_ms = config_.linger_ms;
    options.listener_count = static_cast<uint16_t>(opened_.size());
    if (capsMemory()) options.process_load = &memory_load_;
    options.growth_listener = memory_watch_.get();
    options.max_loop_lag_ms = config_.max_loop_lag_ms;
    options.address_limit = config_.address_limit.get();
    options.own_fd_table = config_.own_fd_tables;
    options.hub = hub();
    options.database = &database_;
    if (!config_.processors.empty()) options.processor = config_.processors[i % config_.processors.size()];
    auto thread = IoThread::create(sys_, options, *tasks_, registry_, metrics_, config_.service);
    if (!thread.ok()) return thread.status();
    threads_.push_back(std::move(thread).value());
    if (push_host_ != nullptr) push_host_->setLoop(i, threads_.back()->loop());
    setProtocols(*threads_.back());
  }
  Status status;
  if (config_.accept == AcceptMode::kReusePort) {
    openReusePort();
  } else {
    status = openHandoff();
  }
  if (status.ok()) status = startThreads();
  for (size_t i = 0; status.ok() && i < acceptors_.size(); ++i) status = acceptors_[i]->start();
  return status;
}

// Every loop can be woken from every thread, whatever table that has.
Status Server::startThreads() {
  std::vector<int> shared_fds{main_loop_->wakeFd()};
  for (const auto& thread : threads_) shared_fds.push_back(thread->wakeFd());
  for (const auto& thread : threads_) {
    Status status = thread->start(shared_fds);
    if (!status.ok()) return status;
  }
  return {};
}

void Server::setProtocols(IoThread& thread) {
  for (size_t i = 0; i < config_.protocols.size(); ++i) {
    const ListenerProtocol& protocol = config_.protocols[i];
    const auto index = static_cast<uint16_t>(i);
    if (protocol.service != nullptr) thread.setSpeaker(index, *protocol.service);
    if (!protocol.proxy_protocol) continue;
    thread.expectProxyHeader(index,
                             {config_.head_timeout_ms, &protocol.proxy_trusted, &config_.blocked, nullptr});
  }
}

// Every IO thread has a socket of its own of each group; a group of one (Unix) goes to one thread, in turn.
void Server::openReusePort() {
  for (size_t i = 0; i < opened_.size(); ++i) {
    for (size_t k = 0; k < opened_[i].size(); ++k) {
      IoThread& thread = *threads_[(opened_[i].size() == 1 ? i : k) % threads_.size()];
      thread.addListener(std::move(opened_[i][k]), static_cast<uint16_t>(i), &config_.blocked);
    }
  }
  opened_.clear();
  if (config_.own_fd_tables) return;
  for (const auto& thread : threads_) thread->setEvictors(evictors());
}

std::vector<net::Evictor*> Server::evictors() const {
  std::vector<net::Evictor*> all;
  for (const auto& thread : threads_) all.push_back(&thread->evictor());
  return all;
}

Status Server::openHandoff() {
  std::vector<net::FdHandoff*> targets;
  for (const auto& thread : threads_) {
    Status status = thread->openHandoff();
    if (!status.ok()) return status;
    targets.push_back(&thread->handoff());
  }
  sink_ = std::make_unique<net::RoundRobinSink>(std::move(targets));
  sink_->setEvictors(evictors());
  for (size_t i = 0; i < opened_.size(); ++i) {
    acceptors_.push_back(std::make_unique<net::Acceptor>(*main_loop_, std::move(opened_[i].front()),
                                                         static_cast<uint16_t>(i), *sink_,
                                                         net::Acceptor::Trigger::kEdge));
    acceptors_.back()->setBlocked(&config_.blocked);
    acceptors_.back()->setCounters(&accept_counters_);
    acceptors_.back()->setAddressLimit(config_.address_limit.get());
  }
  opened_.clear();
  return {};
}

std::string Server::description() const {
  std::vector<std::string> urls;
  for (size_t i = 0; i < addresses_.size(); ++i)
    urls.push_back(urlOf(addresses_[i], config_.protocols[i].speaker));
  return fmt::format("{} (pid {}, {} IO thread{}, {}{})", fmt::join(urls, " "), ::getpid(),
                     config_.io_threads, config_.io_threads == 1 ? "" : "s",
                     config_.accept == AcceptMode::kReusePort ? "reuseport" : "handoff",
                     config_.own_fd_tables ? ", an fd table per thread" : "");
}

std::string Server::exposure() const {
  std::vector<std::string> wildcards;
  std::vector<std::string> urls;
  for (size_t i = 0; i < addresses_.size(); ++i) {
    const std::string text = addresses_[i].toString();
    const bool v4 = text.compare(0, 8, "0.0.0.0:") == 0;
    if (!v4 && text.compare(0, 5, "[::]:") != 0) continue;
    wildcards.push_back(text);
    if (!config_.protocols[i].speaker.empty()) continue;
    for (std::string& url : networkUrls(v4 ? AF_INET : AF_INET6, addresses_[i].port()))
      urls.push_back(std::move(url));
  }
  if (wildcards.empty()) return {};
  return fmt::format("reachable from the network: listening on every address of this machine at {}{}{}",
                     fmt::join(wildcards, " "), urls.empty() ? "" : ", such as ", fmt::join(urls, " "));
}

void Server::run() {
  main_loop_->run();
  if (stopper_.joinable()) stopper_.join();
}

void Server::onSignal(int number) noexcept {
  switch (number) {
    case SIGUSR1:
      LOG_INFO("SIGUSR1: the log's file is opened anew");
      log::reopen();
      break;
    case SIGHUP:
      LOG_WARN(
          "SIGHUP: a changed configuration is not loaded, which takes a restart; a database's schema is read "
          "anew");
      registry_.onReload();
      break;
    case SIGUSR2:
      LOG_WARN("SIGUSR2: this version cannot hand over to a new executable; restart it instead");
      break;
    default:
      if (stopping_) {
        LOG_WARN("{} again: ending at once", signalName(number));
        log::flush();
        ::_exit(1);
      }
      beginStop(number);
  }
}

void Server::beginStop(int signal_number) {
  stopping_ = true;
  LOG_INFO("{}: stopping", signalName(signal_number));
  for (const auto& acceptor : acceptors_) acceptor->stop();
  // An event of this batch may still name them.
  main_loop_->destroyLater(event::makeTask([gone = std::move(acceptors_)] {}));
  acceptors_.clear();
  for (const auto& thread : threads_) {
    thread->beginDrain([this] {
      main_loop_->post(event::makeTask([this] {
        if (++drained_ == threads_.size()) finishStop();
      }));
    });
  }
}

// The pool may have slow work to end, and the main loop must hear a second signal meanwhile.
void Server::finishStop() {
  const AllSignalsBlocked blocked;
  stopper_ = std::thread([this] {
    endThreads();
    main_loop_->stop();
  });
}

// The pool first: what it still posts to the loops is run there.
void Server::endThreads() noexcept {
  if (tasks_ != nullptr) tasks_->stop();
  for (const auto& thread : threads_) thread->finish();
  for (const auto& thread : threads_) thread->join();
  database_.stop();
}

}  // namespace roost::server
