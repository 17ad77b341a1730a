#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roost::db {

// One server.
struct Target {
  std::string host;  // name or address
  uint16_t port = 3306;
  std::string unix_socket;    // in the address' place where not empty
  std::string label() const;  // for the log: "db.example.org:3306", "/run/mysqld/mysqld.sock"
};

// Which server a connection leads to, where a target's name or address stands for several.
struct ServerPlace {
  std::string identity;  // what it says of itself
  std::string address;   // where it has been reached, in digits; empty: by a Unix socket
};

enum class TlsMode : uint8_t {
  kOff,
  kRequired,    // whoever answers: against listeners only. With a ca_file as kVerifyCa
  kVerifyCa,    // by ca_file, or the system's; whoever has a certificate of it
  kVerifyName,  // and for that host: the only one that stands against a server in the server's place
};

struct TlsOptions {
  TlsMode mode = TlsMode::kOff;
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
};

enum class Driver : uint8_t {
  kAuto,     // kLoop where it can be
  kLoop,     // the client library's non-blocking interface, on the loop
  kThreads,  // a thread of the pool per connection
};

// What the configuration's `mysql` says. Times in milliseconds, 0: no bound, unless it says otherwise.
struct Options {
  Target primary;
  std::vector<Target> replicas;  // reads may go there; none: all goes to the primary
  std::string user;
  std::string password;
  std::string database;
  uint64_t client_flags = 0;
  TlsOptions tls;
  Driver driver = Driver::kAuto;
  std::string time_zone = "+00:00";  // of the session: "+HH:MM", "-HH:MM"

  uint32_t max_connections = 16;  // of all loops and targets together
  uint32_t max_waiting = 1024;    // of all loops together; beyond: kQueueFull
  uint32_t queue_timeout_ms = 5'000;
  uint32_t connect_timeout_ms = 5'000;
  uint32_t query_timeout_ms = 30'000;    // a statement's time at the server, and between two rows
  uint32_t stream_timeout_ms = 300'000;  // from a statement's start to its last row, whoever is slow
  uint32_t slow_reader_ms = 2'000;       // that rows may wait for their reader in all, while others wait
  uint32_t idle_timeout_s = 300;         // an unused connection is closed
  uint32_t lifetime_s = 3'600;           // and every one after this time, less up to a tenth by chance
  uint32_t slow_statement_ms = 1'000;    // a statement that takes that long is told in the log
  uint32_t leak_report_s = 60;           // a connection held that long is told in the log
  uint32_t max_statements = 256;         // prepared per connection; the least recently used goes
};

}  // namespace roost::db
