#include "modules/tcp_echo/tcp_echo.h"

#include "modules/tcp_echo/echo_session.h"
#include "modules/tcp_echo/working_echo.h"

namespace roost::embedded {
extern const std::string_view tcp_echo_schema;
}

namespace roost::modules::tcp_echo {
namespace {

template <class Sessions>
class Opened final : public module::LoopListener {
 public:
  template <class... Args>
  explicit Opened(Args&&... args) noexcept : sessions_(std::forward<Args>(args)...) {}
  net::SessionFactory& sessions() noexcept override { return sessions_; }

 private:
  Sessions sessions_;
};

class EchoService final : public module::ListenerService {
 public:
  EchoService(const Work& work, uint32_t idle_timeout_ms) noexcept
      : work_(work), idle_timeout_ms_(idle_timeout_ms) {}
  std::unique_ptr<module::LoopListener> open(http::LoopContext& context) const override {
    if (work_.kind == Work::Kind::kNone) return std::make_unique<Opened<EchoSession>>(idle_timeout_ms_);
    return std::make_unique<Opened<WorkingEcho>>(context, work_, idle_timeout_ms_);
  }

 private:
  const Work work_;
  const uint32_t idle_timeout_ms_;
};

Result<Work> workOf(config::Node node, config::Node root) {
  Work work;
  if (!node.isObject()) return work;
  work.kind = node["kind"].asString() == "cpu" ? Work::Kind::kCpu : Work::Kind::kSleep;
  work.us = static_cast<uint32_t>(node["us"].asInt());
  const std::string& where = node["where"].asString();
  if (where == "task") work.where = Work::Where::kTask;
  if (where == "timer") work.where = Work::Where::kTimer;
  if (work.where == Work::Where::kTimer && work.kind == Work::Kind::kCpu)
    return Status::error("work: a timer can wait (\"kind\": \"sleep\") but not compute");
  if (work.where == Work::Where::kTask && root["task_processes"].asInt() == 0)
    return Status::error("work: \"where\": \"task\" needs task threads, and \"task_processes\" is 0");
  return work;
}

class TcpEcho final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"tcp_echo", embedded::tcp_echo_schema, false, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<std::unique_ptr<module::ListenerService>> buildListener(
      config::Node options, const module::ListenerContext& context) override {
    const Result<Work> work = workOf(options["work"], context.root);
    if (!work.ok()) return work.status();
    return std::unique_ptr<module::ListenerService>(std::make_unique<EchoService>(
        work.value(), static_cast<uint32_t>(options["idle_timeout_ms"].asInt())));
  }
};

}  // namespace

std::unique_ptr<module::Module> makeTcpEcho() {
  return std::make_unique<TcpEcho>();
}

}  // namespace roost::modules::tcp_echo
