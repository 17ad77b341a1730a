#include "server/io_thread.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "base/fd_table.h"
#include "log/log.h"
#include "net/connection.h"
#include "server/database_host.h"
#include "server/processors.h"

namespace roost::server {
namespace {

constexpr std::chrono::milliseconds kDrainStep{10};

bool underWay(const net::Connection& connection) noexcept {
  return connection.writing() || connection.session()->owesAnswer();
}

}  // namespace

Result<std::unique_ptr<IoThread>> IoThread::create(Sys& sys, const IoThreadOptions& options,
                                                   event::TaskPool& tasks, module::Registry& modules,
                                                   metrics::Registry& metrics,
                                                   std::shared_ptr<const http::Service> service) {
  auto loop = event::Loop::create(sys, options.index);
  if (!loop.ok()) return loop.status();
  std::unique_ptr<IoThread> thread(new IoThread(options, std::move(loop).value(), tasks, modules, metrics));
  thread->http_.setService(std::move(service));
  return thread;
}

IoThread::IoThread(const IoThreadOptions& options, std::unique_ptr<event::Loop> loop, event::TaskPool& tasks,
                   module::Registry& modules, metrics::Registry& metrics)
    : options_(options),
      modules_(modules),
      loop_(std::move(loop)),
      io_counters_(metrics),
      accept_counters_(metrics),
      cut_short_(metrics.counter({kCutShortMetric, "Answers that the server's end has cut short.", ""})),
      http_counters_(metrics),
      gate_(options.process_load),
      lag_watch_(*loop_, options.max_loop_lag_ms, gate_),
      eviction_counters_(metrics),
      io_(*loop_),
      evictor_(io_),
      http_(io_, tasks),
      protocol_(http_),
      housekeeper_(io_, protocol_, metrics),
      local_sink_(io_, options.connection_limit) {
  io_.setCounters(&io_counters_);
  http_.setCounters(&http_counters_);
  io_.setAddressLimit(options.address_limit);
  http_.setGate(&gate_);
  local_sink_.setGate(&gate_);
  io_.setLingerMs(options.linger_ms);
  io_.setGrowthListener(options.growth_listener, MemoryWatch::kGrowthStepBytes);
  evictor_.setCounters(&eviction_counters_);
  protocols_.resize(options.listener_count);
  if (options.hub != nullptr) push_ticker_.emplace(*loop_, options.hub->shard(options.index));
}

IoThread::~IoThread() = default;

void IoThread::openProtocols() {
  for (size_t i = 0; i < protocols_.size(); ++i) {
    ListenerProtocol& protocol = protocols_[i];
    net::SessionFactory* first = &protocol_;
    if (protocol.service != nullptr) {
      protocol.speaker = protocol.service->open(http_);
      first = &protocol.speaker->sessions();
    }
    if (protocol.proxy) {
      protocol.proxy->refused = &accept_counters_.refused;
      protocol.proxy_session = std::make_unique<net::ProxySession>(*first, *protocol.proxy);
      first = protocol.proxy_session.get();
    }
    io_.setFactory(static_cast<uint16_t>(i), *first);
  }
}

Status IoThread::openHandoff() {
  handoff_ = std::make_unique<net::FdHandoff>(io_, options_.connection_limit);
  handoff_->setGate(&gate_);
  return handoff_->open();
}

void IoThread::addListener(net::Listener listener, uint16_t listener_index, const net::CidrSet* blocked) {
  acceptors_.push_back(std::make_unique<net::Acceptor>(*loop_, std::move(listener), listener_index,
                                                       local_sink_, net::Acceptor::Trigger::kLevel));
  acceptors_.back()->setBlocked(blocked);
  acceptors_.back()->setCounters(&accept_counters_);
  acceptors_.back()->setAddressLimit(options_.address_limit);
}

std::vector<int> IoThread::ownFds() const {
  std::vector<int> fds;
  for (const int fd : loop_->ownFds()) fds.push_back(fd);
  for (const auto& acceptor : acceptors_) fds.push_back(acceptor->listener().fd());
  return fds;
}

// With a table of its own, the thread has copies of what is its own, and those here are closed: a listening
// socket that the thread closes must not live on in another table, where nobody accepts.
Status IoThread::start(const std::vector<int>& shared_fds) {
  const std::vector<int> own = ownFds();
  std::vector<int> keep = own;
  keep.insert(keep.end(), shared_fds.begin(), shared_fds.end());
  std::promise<Status> ready;
  std::future<Status> is_ready = ready.get_future();
  try {
    thread_ = std::thread(
        [this, kept = std::move(keep), told = std::move(ready)]() mutable { run(kept, std::move(told)); });
  } catch (const std::system_error& error) {
    return Status::fromErrno(error.code().value(), "cannot start an IO thread");
  }
  Status status = is_ready.get();
  if (has_own_table_) {
    for (const int fd : own) loop_->sys().closeFd(fd);
  }
  if (!status.ok()) join();
  return status;
}

void IoThread::join() {
  if (thread_.joinable()) thread_.join();
}

Status IoThread::begin(const std::vector<int>& keep) noexcept {
  log::setThreadName(fmt::format("roost-io-{}", options_.index));
  if (options_.own_fd_table) {
    Status status = splitFdTable(keep);
    if (!status.ok()) return status;
    has_own_table_ = true;
    loop_->enteredTable();
  }
  if (options_.processor) {
    const Status status = pinThisThread(*options_.processor);
    if (!status.ok()) LOG_WARN("{}", status.message());
  }
  if (options_.max_loop_lag_ms > 0) lag_watch_.start();
  housekeeper_.start();
  if (push_ticker_) push_ticker_->start();
  if (options_.database != nullptr) options_.database->startLoop(*loop_);
  modules_.onLoopStart(http_);
  openProtocols();
  for (const auto& acceptor : acceptors_) {
    Status status = acceptor->start();
    if (!status.ok()) return status;
  }
  return {};
}

void IoThread::run(const std::vector<int>& keep, std::promise<Status> ready) noexcept {
  Status status = begin(keep);
  const bool begun = status.ok();
  ready.set_value(std::move(status));
  if (begun) loop_->run();
  end();
}

// Everything that holds a descriptor goes here and now: this thread's table ends with it.
void IoThread::end() noexcept {
  acceptors_.clear();
  if (push_ticker_) push_ticker_->stop();
  io_.closeAll();
  // What was posted by threads that have ended since, and what waited for the end of a batch.
  loop_->runOnce(0);
  io_.closeAll();
  protocols_.clear();
  modules_.onLoopStop(http_);
  if (options_.database != nullptr) options_.database->stopLoop(*loop_);
  loop_->runOnce(0);
  if (has_own_table_) loop_->closeOwnFds();
}

void IoThread::beginDrain(std::function<void()> drained) {
  loop_->post(event::makeTask([this, call = std::move(drained)]() mutable {
    drained_ = std::move(call);
    drain();
  }));
}

void IoThread::relieve(net::MemoryRelief& relief) {
  loop_->post(event::makeTask([this, &relief] { evictor_.relieve(relief); }));
}

void IoThread::drain() noexcept {
  for (const auto& acceptor : acceptors_) acceptor->stop();
  // An event of this batch may still name them.
  loop_->destroyLater(event::makeTask([gone = std::move(acceptors_)] {}));
  acceptors_.clear();
  if (handoff_ != nullptr) handoff_->adoptAll();
  drain_deadline_ns_ = loop_->nowNs() + int64_t{kDrainMs} * 1'000'000;
  io_.forEach([this](net::Connection& connection) {
    if (!connection.closed()) connection.session()->onShutdown(connection, drain_deadline_ns_);
  });
  if (push_ticker_) push_ticker_->stop();
  closeSilent();
  loop_->armIn(drain_timer_, kDrainStep);
}

// Called again until the end, so that a connection is closed soon after its answer is complete, whatever it
// was to be kept for.
void IoThread::closeSilent() noexcept {
  io_.forEach([](net::Connection& connection) {
    if (!underWay(connection)) connection.close();
  });
}

void IoThread::checkDrained() noexcept {
  closeSilent();
  if (io_.size() > 0 && loop_->nowNs() < drain_deadline_ns_) {
    loop_->armIn(drain_timer_, kDrainStep);
    return;
  }
  countCutShort();
  drained_();
}

void IoThread::countCutShort() noexcept {
  io_.forEach([this](const net::Connection& connection) {
    if (underWay(connection)) cut_short_.add(1);
  });
}

}  // namespace roost::server
