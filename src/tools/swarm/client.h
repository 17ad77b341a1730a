#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/connection.h"
#include "net/session.h"
#include "tools/swarm/stats.h"

namespace roost::swarm {

class NumberedStream;
class SequenceCheck;
class Worker;
struct MessageCheck;
struct Numbered;

// One client: its connection, and the request it waits for. Subclasses speak a protocol: they say when the
// connection may be used (ready), send a request (ask), and tell of its answer (answered) or of what was
// wrong (fail). Owned by its Worker, lives as long as that; its thread only.
class Client : public net::Session {
 public:
  Client(Worker& worker, uint32_t own_index) noexcept : worker_(worker), own_index_(own_index) {}
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  enum class State : uint8_t {
    kAway,        // has no connection, and waits to try again or will not
    kConnecting,  // the attempt and the handshake
    kIdle,
    kWaiting,  // for an answer
    kLeaving,  // the server is to end the connection in good order
    kDone,     // needs nothing more; its connection stays
  };

  // Sends request number `asked` (from 0). REQUIRES: a connection that is ready.
  virtual void ask() noexcept = 0;
  // The run is over: says good-bye where the protocol has a word for it, and closes.
  virtual void leave() noexcept;
  // How many answers it waits for. REQUIRES: it waits.
  virtual uint32_t owed() const noexcept { return 1; }
  // Messages it should have had beside those that it had; at the end of the run.
  virtual uint64_t missing() const noexcept { return 0; }

  void onConnecting(net::Connection& connection) noexcept final;
  void onConnected(net::Connection& connection) noexcept final;
  void onReadEnd(net::Connection& connection) noexcept override;
  void onTimeout(net::Connection& connection) noexcept final;
  void onError(net::Connection& connection, int sys_errno) noexcept final;
  void onClose(net::Connection& connection) noexcept final;

 protected:
  // The connection stands: the default is ready for use at once.
  virtual void opened() noexcept;
  // The connection is gone; forget what was being read.
  virtual void closed() noexcept {}
  // The server ended the connection while no answer was due. Whether that is in order.
  virtual bool mayEnd() const noexcept { return false; }

  void ready() noexcept;
  void answered() noexcept;
  // Counts an error and closes the connection; `detail` is kept if it is the first of its kind.
  void fail(ErrorKind kind, const std::string& detail) noexcept;
  // Counts an error of a client that goes on.
  void complain(ErrorKind kind, const std::string& detail) noexcept;
  void send(std::string_view bytes) noexcept;
  // The plan's, with the client's number in its place, and with `fields` (whole lines) behind its own.
  void sendRequest(std::string_view fields = {}) noexcept;
  // A message has come to a listening client, or a numbered answer; `text` is its beginning.
  void received(MessageCheck& messages, std::string_view text) noexcept;
  // The server says instead that messages are missing, in these words.
  void gapTold(std::string_view words) noexcept;
  void checkNumber(NumberedStream& numbers) noexcept;
  uint64_t missingOf(const MessageCheck& messages) const noexcept;
  Worker& worker() const noexcept { return worker_; }
  net::Connection* connection() const noexcept { return connection_; }
  uint32_t runIndex() const noexcept;  // among the clients of the whole run

 private:
  friend class Worker;
  void checkNumber(SequenceCheck& check, const Numbered& numbered, std::string_view text) noexcept;

  Worker& worker_;
  net::Connection* connection_ = nullptr;
  int64_t due_ns_ = 0;   // when the request waited for was due; while connecting: when that began
  int64_t sent_ns_ = 0;  // when it was sent; while idle: since when it is
  int64_t think_until_ns_ = 0;
  uint32_t own_index_;  // among the clients of its thread
  uint32_t asked_ = 0;
  State state_ = State::kAway;
  bool settled_ = false;    // has been connected, or failed, once
  bool was_asked_ = false;  // over the connection that it has
  bool ends_well_ = false;  // its connection is being closed in good order

 protected:
  void endWell() noexcept { ends_well_ = true; }
  uint32_t asked() const noexcept { return asked_; }
  State state() const noexcept { return state_; }
};

// The client number `own_index` of the thread, of the scenario's kind.
std::unique_ptr<Client> makeClient(Worker& worker, uint32_t own_index);

}  // namespace roost::swarm
