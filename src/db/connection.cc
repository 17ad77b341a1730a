#include "db/connection.h"

#include "db/client.h"
#include "db/prepared.h"
#include "db/spare_sessions.h"

namespace roost::db {

namespace {

class BlockingConnection final : public Connection {
 public:
  explicit BlockingConnection(std::shared_ptr<SharedSession> shared) noexcept
      : shared_(std::move(shared)), session_(shared_->session) {}

  bool run(const Statement& statement, const OnRow& on_row, Error& error) override;
  uint64_t threadId() const noexcept override { return mysql_thread_id(session_.mysql.get()); }
  bool isMariaDb() const noexcept override { return db::isMariaDb(session_.mysql.get()); }
  std::string serverVersion() const override { return mysql_get_server_info(session_.mysql.get()); }

 private:
  const std::shared_ptr<SharedSession> shared_;
  Session& session_;
};

bool BlockingConnection::run(const Statement& statement, const OnRow& on_row, Error& error) {
  const std::lock_guard<std::mutex> lock(shared_->busy);
  if (executeBytes(statement) > session_.max_packet_bytes) {
    error = tooLarge();
    return false;
  }
  Prepared prepared(session_.mysql.get());
  if (!prepared.prepare(statement.text.view()) || !prepared.execute(statement.values)) {
    error = prepared.error();
    return false;
  }
  if (!prepared.hasRows()) return true;
  Fetched fetched = Fetched::kEnd;
  while ((fetched = prepared.fetch()) == Fetched::kRow) on_row(prepared.columns(), prepared.row());
  if (fetched == Fetched::kFailed || !prepared.skipMoreResults()) {
    error = prepared.error();
    return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<Connection> Connection::open(const Options& options, const Target& target, Error& error,
                                             SpareSessions* spares) {
  auto shared = std::make_shared<SharedSession>();
  if (!openSession(options, target, SessionUse::kBlocking, shared->session, error)) {
    error.message.insert(0, target.label() + ": ");
    return nullptr;
  }
  if (spares != nullptr) spares->add(shared);
  return std::make_unique<BlockingConnection>(std::move(shared));
}

}  // namespace roost::db
