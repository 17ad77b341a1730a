#include "server/database_host.h"

#ifdef ROOST_HAS_DATABASE

#include <fmt/format.h>

#include <utility>

#include "db/pool.h"
#include "db/wire.h"

namespace roost::server {
namespace {

using config::errorAt;
using config::Node;

constexpr uint16_t kUsualPort = 3306;

uint32_t asU32(Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

db::Target targetOf(Node node) {
  db::Target target;
  target.host = node["address"].asString();
  const auto port = static_cast<uint16_t>(node["port"].asInt());
  target.port = port != 0 ? port : kUsualPort;
  target.unix_socket = node["unix_socket"].asString();
  return target;
}

bool ownFdTables(Node root) noexcept {
  return root["fd_table"].asString() == "per_thread";
}

// Sockets are made by threads that have the main thread's table, so a loop that has one of its own cannot
// read them: there, threads do.
db::Driver driverOf(Node root) noexcept {
  const std::string& name = root["mysql"]["driver"].asString();
  if (name == "threads" || ownFdTables(root)) return db::Driver::kThreads;
  return name == "loop" ? db::Driver::kLoop : db::Driver::kAuto;
}

db::TlsOptions tlsOf(Node node) {
  db::TlsOptions tls;
  const std::string& mode = node["mode"].asString();
  if (mode == "required") tls.mode = db::TlsMode::kRequired;
  if (mode == "verify_ca") tls.mode = db::TlsMode::kVerifyCa;
  if (mode == "verify_name") tls.mode = db::TlsMode::kVerifyName;
  tls.ca_file = node["ca"].asString();
  tls.cert_file = node["certificate"].asString();
  tls.key_file = node["key"].asString();
  return tls;
}

}  // namespace

bool DatabaseHost::supported() noexcept {
  return true;
}

void DatabaseHost::check(Node root, std::vector<config::Diagnostic>& errors) {
  const Node mysql = root["mysql"];
  if (mysql["driver"].asString() == "loop") {
    if (ownFdTables(root)) {
      errors.push_back(errorAt(mysql["driver"],
                               "\"loop\" cannot be with \"fd_table\": \"per_thread\", since a connection's "
                               "socket is made in another table than the loop's: write \"threads\""));
    } else if (!db::hasLoopDriver()) {
      errors.push_back(errorAt(mysql["driver"],
                               "\"loop\" needs MariaDB's client library, and this program was built with "
                               "another: write \"threads\""));
    }
  }
  const Node tls = mysql["tls"];
  const std::string& mode = tls["mode"].asString();
  if ((mode == "verify_ca" || mode == "verify_name") && tls["ca"].asString().empty()) {
    errors.push_back(
        errorAt(tls["mode"], "a certificate can be verified only with an authority: write \"ca\""));
  }
  if (tls["certificate"].asString().empty() != tls["key"].asString().empty()) {
    errors.push_back(errorAt(tls, "\"certificate\" and \"key\" go together"));
  }
}

db::Options DatabaseHost::optionsOf(Node root) {
  const Node node = root["mysql"];
  db::Options options;
  options.primary = targetOf(node);
  const Node replicas = node["replicas"];
  for (size_t i = 0; i < replicas.size(); ++i) options.replicas.push_back(targetOf(replicas.at(i)));
  options.user = node["user"].asString();
  options.password = node["password"].asString();
  options.database = node["database_name"].asString();
  options.client_flags = static_cast<uint64_t>(node["client_flag"].asInt());
  options.tls = tlsOf(node["tls"]);
  options.driver = driverOf(root);
  options.time_zone = node["time_zone"].asString();
  options.max_connections = asU32(node["max_connections"]);
  options.max_waiting = asU32(node["max_waiting"]);
  options.queue_timeout_ms = asU32(node["queue_timeout_ms"]);
  options.connect_timeout_ms = asU32(node["connect_timeout_ms"]);
  options.query_timeout_ms = asU32(node["query_timeout_ms"]);
  options.stream_timeout_ms = asU32(node["stream_timeout_ms"]);
  options.slow_reader_ms = asU32(node["slow_reader_ms"]);
  options.idle_timeout_s = asU32(node["idle_timeout_s"]);
  options.lifetime_s = asU32(node["lifetime_s"]);
  options.leak_report_s = asU32(node["leak_report_s"]);
  options.slow_statement_ms = asU32(node["slow_statement_ms"]);
  options.max_statements = asU32(node["max_statements"]);
  return options;
}

Status DatabaseHost::open(Node root, uint32_t loop_count, metrics::Registry& metrics) {
  auto made = db::Database::create(optionsOf(root), loop_count, &metrics);
  if (!made.ok()) return made.status();
  database_ = std::move(made).value();
  return {};
}

std::string DatabaseHost::description() const {
  const db::Options& options = database_->options();
  const size_t replicas = options.replicas.size();
  return fmt::format(
      "at most {} connections to {}{}, by {}", options.max_connections, options.primary.label(),
      replicas == 0 ? "" : fmt::format(" and {} replica{}", replicas, replicas == 1 ? "" : "s"),
      database_->driver() == db::Driver::kLoop ? "the loops" : "threads");
}

void DatabaseHost::startLoop(event::Loop& loop) noexcept {
  if (database_ != nullptr) database_->startLoop(loop);
}

void DatabaseHost::stopLoop(event::Loop& loop) noexcept {
  if (database_ != nullptr) database_->stopLoop(loop);
}

void DatabaseHost::stop() noexcept {
  if (database_ != nullptr) database_->stop();
}

}  // namespace roost::server

#else

namespace roost::db {
class Database {};
struct Options {};
}  // namespace roost::db

namespace roost::server {

bool DatabaseHost::supported() noexcept {
  return false;
}
void DatabaseHost::check(config::Node, std::vector<config::Diagnostic>&) {}
Status DatabaseHost::open(config::Node, uint32_t, metrics::Registry&) {
  return Status::error("this build has no MySQL client");
}
std::string DatabaseHost::description() const {
  return {};
}
void DatabaseHost::startLoop(event::Loop&) noexcept {}
void DatabaseHost::stopLoop(event::Loop&) noexcept {}
void DatabaseHost::stop() noexcept {}

}  // namespace roost::server

#endif

namespace roost::server {

DatabaseHost::DatabaseHost() noexcept = default;
DatabaseHost::~DatabaseHost() = default;

}  // namespace roost::server
