#include "db/client.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/localhost.h"
#include "db/prepared.h"

#if ROOST_MARIADB_CLIENT
#include <ma_pvio.h>
#endif

namespace roost::db {

namespace {

constexpr const char* kSqlMode =
    "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";
constexpr unsigned long kMaxPacketBytes = 1UL << 30;  // the protocol's own bound

constexpr const char* kSystemCas = "/etc/ssl/certs";
constexpr unsigned int kGraceSeconds = 1;       // the server ends the statement before the library gives up
constexpr size_t kSideStackBytes = 128 * 1024;  // of the non-blocking interface; only what is touched is had

// Never told by headers of both libraries.
constexpr uint32_t kStatementTimeout = 1969;    // MariaDB's max_statement_time
constexpr uint32_t kExecutionTimeout = 3024;    // Oracle's max_execution_time
constexpr uint32_t kConnectionKilled = 1927;    // MariaDB's
constexpr uint32_t kInteractionTimeout = 4031;  // Oracle's wait_timeout
constexpr uint32_t kNetPacketTooLarge = 2020;   // the library's

void set(MYSQL* mysql, enum mysql_option option, const void* value) {
  mysql_options(mysql, option, static_cast<const char*>(value));
}

unsigned int secondsOf(uint32_t ms) {
  return ms / 1000 + (ms % 1000 != 0 ? 1 : 0);
}

void setFile(MYSQL* mysql, enum mysql_option option, const std::string& path) {
  if (!path.empty()) set(mysql, option, path.c_str());
}

void setTls(MYSQL* mysql, const TlsOptions& tls) {
  const bool verifies = tls.mode == TlsMode::kVerifyCa || tls.mode == TlsMode::kVerifyName;
  if (tls.mode != TlsMode::kOff) {
    setFile(mysql, MYSQL_OPT_SSL_CA, tls.ca_file);
    setFile(mysql, MYSQL_OPT_SSL_CERT, tls.cert_file);
    setFile(mysql, MYSQL_OPT_SSL_KEY, tls.key_file);
    if (verifies && tls.ca_file.empty()) set(mysql, MYSQL_OPT_SSL_CAPATH, kSystemCas);
  }
#if ROOST_MARIADB_CLIENT
  // With authorities given the chain is verified whatever this says, which is about the name.
  const ClientBool on = tls.mode != TlsMode::kOff;
  const ClientBool by_name = tls.mode == TlsMode::kVerifyName;
  set(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
  set(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &by_name);
#else
  unsigned int mode = SSL_MODE_DISABLED;
  if (tls.mode == TlsMode::kRequired) mode = SSL_MODE_REQUIRED;
  if (tls.mode == TlsMode::kVerifyCa) mode = SSL_MODE_VERIFY_CA;
  if (tls.mode == TlsMode::kVerifyName) mode = SSL_MODE_VERIFY_IDENTITY;
  set(mysql, MYSQL_OPT_SSL_MODE, &mode);
#endif
}

void setOptions(MYSQL* mysql, const Options& options, const Target& target, SessionUse use) {
  set(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const unsigned int off = 0;
  set(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
  set(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &kMaxPacketBytes);
  const unsigned int connect_s = secondsOf(options.connect_timeout_ms);
  if (connect_s != 0) set(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
  // A server that hangs with the connection open. Of others than a blocking session only while it is set up.
  const unsigned int statement_s = secondsOf(options.query_timeout_ms);
  unsigned int wait_s = connect_s;
  if (use == SessionUse::kBlocking) wait_s = statement_s != 0 ? statement_s + kGraceSeconds : 0;
  if (wait_s != 0 && (use == SessionUse::kBlocking || ROOST_MARIADB_CLIENT)) {
    set(mysql, MYSQL_OPT_READ_TIMEOUT, &wait_s);
    set(mysql, MYSQL_OPT_WRITE_TIMEOUT, &wait_s);
  }
  const unsigned int protocol = target.unix_socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  set(mysql, MYSQL_OPT_PROTOCOL, &protocol);
  setTls(mysql, options.tls);
}

Error unavailable(Error error) {
  error.kind = ErrorKind::kUnavailable;
  return error;
}

// Runs one statement that is used once; the cells of its last row, if it has rows.
bool runOnce(MYSQL* mysql, const Statement& statement, Error& error,
             std::vector<std::string>* cells = nullptr) {
  Prepared prepared(mysql);
  if (!prepared.prepare(statement.text.view()) || !prepared.execute(statement.values)) {
    error = prepared.error();
    return false;
  }
  while (prepared.fetch() == Fetched::kRow) {
    if (cells == nullptr) continue;
    cells->clear();
    for (size_t i = 0; i < prepared.columns().size(); ++i) cells->emplace_back(prepared.row()[i].view());
  }
  return true;
}

// What there is to know of the server. Behind one name or balancer several may stand, and no one variable of
// both makers' tells them apart.
bool askServer(MYSQL* mysql, Session& session, Error& error) {
  std::vector<std::string> cells;
  const SqlText text("SELECT @@max_allowed_packet, @@hostname, @@port, @@datadir, @@server_id");
  if (!runOnce(mysql, {text, {}}, error, &cells)) return false;
  if (cells.empty()) {
    error = {ErrorKind::kUnavailable, CR_SERVER_LOST, "HY000", "the server does not tell its variables"};
    return false;
  }
  session.max_packet_bytes = readUint({cells[0].data(), cells[0].size()});
  for (size_t i = 1; i < cells.size(); ++i) session.server.identity += cells[i] + '\0';
  return true;
}

// The server's address; empty where it has none that could be connected to again.
std::string addressOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::getpeername(fd, any, &size) != 0 || any->sa_family == AF_UNIX) return {};
  char digits[NI_MAXHOST];
  return ::getnameinfo(any, size, digits, sizeof digits, nullptr, 0, NI_NUMERICHOST) == 0 ? digits : "";
}

// The server tells with a result whether the statement has left something behind in its session, variables
// above all, and nothing else (Outcome::session_changed).
void appendTracking(MYSQL* mysql, Statement& setting) {
  const unsigned long first = isMariaDb(mysql) ? 100'202 : 50'706;
  if (mysql_get_server_version(mysql) < first) return;
  setting.text << ", session_track_state_change = 1, session_track_schema = 0,"
                  " session_track_system_variables = ?, session_track_transaction_info = ?";
  setting.values.push_back(Value::ofText(""));
  setting.values.push_back(Value::ofText("OFF"));
  if (isMariaDb(mysql)) return;
  setting.text << ", session_track_gtids = ?";
  setting.values.push_back(Value::ofText("OFF"));
}

// Whatever the server's configuration has made the default: what would change, without a word, what
// statements mean, how many rows they see, or which of them are kept. What bounds or refuses and says so
// (max_join_size, max_statement_time, tx_read_only ...) is the server's own. Each is a variable that the
// server has: one that is not known would keep us from connecting.
void appendMeaning(MYSQL* mysql, const Options& options, Statement& setting) {
  setting.text << "SET NAMES utf8mb4, time_zone = ?, sql_mode = ?, autocommit = 1, completion_type = 0,"
                  " sql_select_limit = ?, sql_safe_updates = 0, sql_auto_is_null = 0, foreign_key_checks = 1,"
                  " unique_checks = 1, ";
  if (isMariaDb(mysql)) setting.text << "check_constraint_checks = 1, ";
  const unsigned long renamed_in = isMariaDb(mysql) ? 110'101 : 50'720;
  setting.text << (mysql_get_server_version(mysql) < renamed_in ? SqlText("tx_isolation = ?")
                                                                : SqlText("transaction_isolation = ?"));
  setting.values.push_back(Value::ofText(options.time_zone));
  setting.values.push_back(Value::ofText(kSqlMode));
  setting.values.push_back(Value::ofUint(UINT64_MAX));
  setting.values.push_back(Value::ofText("REPEATABLE-READ"));
  appendTracking(mysql, setting);
}

// As few round trips as it takes.
bool setUp(MYSQL* mysql, const Options& options, SessionUse use, Session& session, Error& error) {
  // The server gives up on a reader who is slower than this; that is ours to do.
  const uint32_t patience_s = std::clamp(secondsOf(options.stream_timeout_ms) + 60, 60U, 31'536'000U);
  Statement setting;
  appendMeaning(mysql, options, setting);
  setting.text << ", net_write_timeout = ?";
  setting.values.push_back(Value::ofInt(options.stream_timeout_ms == 0 ? 31'536'000 : patience_s));
  // Of a blocking session the server itself ends what takes too long, so that the connection lives on.
  if (use == SessionUse::kBlocking && options.query_timeout_ms != 0) {
    const bool in_seconds = isMariaDb(mysql);
    setting.text << (in_seconds ? SqlText(", max_statement_time = ?") : SqlText(", max_execution_time = ?"));
    setting.values.push_back(in_seconds ? Value::ofDouble(options.query_timeout_ms / 1e3)
                                        : Value::ofInt(options.query_timeout_ms));
  }
  return runOnce(mysql, setting, error) && askServer(mysql, session, error);
}

// What the library keeps per thread goes with the thread.
struct ClientThread {
  ClientThread() noexcept { mysql_thread_init(); }
  ~ClientThread() { mysql_thread_end(); }
};

// From here on somebody else bounds how long it takes. False: the server has ended the connection since.
bool setDriven(MYSQL* mysql, SessionUse use) {
#if ROOST_MARIADB_CLIENT
  MARIADB_PVIO* pvio = mysql->net.pvio;
  if (pvio == nullptr) return false;  // closing the last statement has found that
  if (pvio->methods->set_timeout != nullptr) {
    pvio->methods->set_timeout(pvio, PVIO_READ_TIMEOUT, 0);
    pvio->methods->set_timeout(pvio, PVIO_WRITE_TIMEOUT, 0);
  }
  if (use != SessionUse::kLoop) return true;
  set(mysql, MYSQL_OPT_NONBLOCK, &kSideStackBytes);
  // Plain sockets are read with MSG_DONTWAIT; TLS only knows the socket's own mode.
  const int fd = mysql_get_socket(mysql);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
#else
  (void)mysql;
  (void)use;
#endif
  return true;
}

void initLibrary() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
  thread_local const ClientThread thread;
  (void)thread;
}

}  // namespace

ErrorKind kindOf(uint32_t number) noexcept {
  switch (number) {
    case kStatementTimeout:
    case kExecutionTimeout:
      return ErrorKind::kTimeout;
    case ER_NET_PACKET_TOO_LARGE:
      return ErrorKind::kTooLarge;
    case ER_SERVER_SHUTDOWN:
    case ER_FORCING_CLOSE:
    case ER_ABORTING_CONNECTION:
    case ER_NET_READ_ERROR_FROM_PIPE:
    case ER_NET_FCNTL_ERROR:
    case ER_NET_PACKETS_OUT_OF_ORDER:
    case ER_NET_UNCOMPRESS_ERROR:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
    case ER_NEW_ABORTING_CONNECTION:
    case kConnectionKilled:
    case kInteractionTimeout:
      return ErrorKind::kLost;
    default:
      break;
  }
  const bool of_library =
      number == 0 || (number >= 2000 && number < 3000) || (number >= 5000 && number < 6000);
  return of_library ? ErrorKind::kLost : ErrorKind::kStatement;
}

Error errorOf(MYSQL* mysql) {
  const uint32_t number = mysql_errno(mysql);
  return {kindOf(number), number, mysql_sqlstate(mysql), mysql_error(mysql)};
}

Error errorOf(MYSQL_STMT* statement) {
  const uint32_t number = mysql_stmt_errno(statement);
  return {kindOf(number), number, mysql_stmt_sqlstate(statement), mysql_stmt_error(statement)};
}

bool isMariaDb(MYSQL* mysql) {
#if ROOST_MARIADB_CLIENT
  return mariadb_connection(mysql) != 0;
#else
  return std::string(mysql_get_server_info(mysql)).find("MariaDB") != std::string::npos;
#endif
}

// MySQL tells of transactions in the same way, whatever it is asked for.
bool saysSessionChanged(MYSQL* mysql, uint32_t status) {
  if ((status & SERVER_SESSION_STATE_CHANGED) == 0) return false;
  const char* text = nullptr;
  size_t size = 0;
  return isMariaDb(mysql) ||
         mysql_session_track_get_first(mysql, SESSION_TRACK_STATE_CHANGE, &text, &size) == 0;
}

// What to connect to, one after the other. The library asks the system for localhost's address, which does
// not know it where there is no hosts file. Only where the certificate's name is to be verified has the
// library to be given the name.
std::vector<std::string> hostsOf(const Options& options, const Target& target) {
  if (!target.unix_socket.empty()) return {"localhost"};
  if (isLocalhost(target.host) && options.tls.mode != TlsMode::kVerifyName) return {"127.0.0.1", "::1"};
  return {target.host};
}

bool nobodyListens(uint32_t error) {
  return error == CR_CONN_HOST_ERROR || error == CR_CONNECTION_ERROR;
}

bool connect(MYSQL* mysql, const std::string& host, const Options& options, const Target& target) {
  const bool local = !target.unix_socket.empty();
  const unsigned long flags =
      (static_cast<unsigned long>(options.client_flags) | CLIENT_FOUND_ROWS) & ~CLIENT_MULTI_STATEMENTS;
  return mysql_real_connect(mysql, host.c_str(), options.user.c_str(), options.password.c_str(),
                            options.database.empty() ? nullptr : options.database.c_str(),
                            local ? 0 : target.port, local ? target.unix_socket.c_str() : nullptr,
                            flags) != nullptr;
}

bool openSession(const Options& options, const Target& target, SessionUse use, Session& session,
                 Error& error) {
  initLibrary();
  MysqlPtr mysql;
  bool connected = false;
  for (const std::string& host : hostsOf(options, target)) {
    if (mysql != nullptr && !nobodyListens(mysql_errno(mysql.get()))) break;
    mysql.reset(mysql_init(nullptr));
    if (mysql == nullptr) {
      error = {ErrorKind::kUnavailable, CR_OUT_OF_MEMORY, "HY000", "out of memory"};
      return false;
    }
    setOptions(mysql.get(), options, target, use);
    connected = connect(mysql.get(), host, options, target);
    if (connected) break;
  }
  if (!connected) {
    error = unavailable(errorOf(mysql.get()));
    return false;
  }
  // MariaDB's library goes on without TLS where the server offers none and no name is to be verified.
  if (options.tls.mode != TlsMode::kOff && mysql_get_ssl_cipher(mysql.get()) == nullptr) {
    error = {ErrorKind::kUnavailable, CR_SSL_CONNECTION_ERROR, "HY000", "the server offers no TLS"};
    return false;
  }
  if (!setUp(mysql.get(), options, use, session, error)) {
    error = unavailable(std::move(error));
    return false;
  }
  if (target.unix_socket.empty()) session.server.address = addressOf(static_cast<int>(mysql->net.fd));
  if (use != SessionUse::kBlocking && !setDriven(mysql.get(), use)) {
    error = {ErrorKind::kUnavailable, CR_SERVER_LOST, "HY000", "the server has ended the connection at once"};
    return false;
  }
  session.mysql = std::move(mysql);
  return true;
}

}  // namespace roost::db
