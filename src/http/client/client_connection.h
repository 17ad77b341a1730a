// One connection of a client: makes it, sends requests and reads the answers, one at a time. Internal to
// http/client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.h"
#include "http/client/body_reader.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/client/response_parser.h"
#include "net/connection.h"
#include "net/resolver.h"
#include "net/session.h"

namespace roost::http::client {

// What reading a head takes, borrowed from the client, so that idle connections do without.
struct ClientHeadSlot {
  ResponseParser parser;
  ReceivedHead head;
};

// Owned by its OriginPool. Goes through names and addresses to kIdle, and then between kIdle and an answer
// until it closes; then the client removes it, and it is destroyed after the batch.
class ClientConnection final : public net::Session, public net::ResolveListener {
 public:
  ClientConnection(Client& client, OriginPool& pool) noexcept;
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Begins to connect; no listener is called from within this.
  void begin() noexcept;
  // Sends the call's request. REQUIRES: idle, or just connected.
  void serve(Call& call) noexcept;
  void close() noexcept;

  OriginPool& pool() const noexcept { return pool_; }
  bool connecting() const noexcept { return state_ <= State::kConnecting; }
  bool idle() const noexcept { return state_ == State::kIdle; }

  // net::Session and net::ResolveListener
  void onResolved(const net::Resolution& resolution) noexcept override;
  void onConnecting(net::Connection& connection) noexcept override;
  void onConnected(net::Connection& connection) noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onReadEnd(net::Connection& connection) noexcept override;
  void onWriteBlocked(net::Connection& connection, size_t bytes) noexcept override;
  void onWriteComplete(net::Connection& connection) noexcept override;
  void onTimeout(net::Connection& connection) noexcept override;
  void onError(net::Connection& connection, int sys_errno) noexcept override;
  void onClose(net::Connection& connection) noexcept override;
  bool owesAnswer() const noexcept override { return call_ != nullptr; }

 private:
  friend class Call;
  friend class Client;
  enum class State : uint8_t {
    kResolving,
    kConnecting,
    kBroken,  // no address took us; the client has not been told
    kIdle,
    kHead,
    kBody,
    kDraining,  // an answer nobody wants is read away
    kOver
  };
  struct Link : ::roost::ListHook {
    explicit Link(ClientConnection& connection) noexcept : owner(connection) {}
    ClientConnection& owner;
  };

  void connectNext() noexcept;
  void fault(ClientError error, int sys_errno, const char* reason) noexcept;

  void writeHead(const Call& call) noexcept;
  void sendContent() noexcept;
  void sendPiece(std::string_view copied) noexcept;
  void endContent() noexcept;
  void flushSoon() noexcept;
  bool requestDone() const noexcept;
  void updateDeadline() noexcept;

  // These answer whether there may be more to read here and now.
  bool readHead(net::Connection& connection, net::Chunk& in) noexcept;
  bool tookInterim(net::Connection& connection, const ReceivedHead& head) noexcept;
  void tookHead(net::Connection& connection, net::Chunk& in, const ReceivedHead& head) noexcept;
  void tookSwitch(net::Connection& connection, const ReceivedHead& head,
                  const h1::ResponseFraming& framing) noexcept;
  bool readBody(net::Connection& connection, net::Chunk& in) noexcept;
  bool tookPiece(net::Connection& connection, std::string_view piece) noexcept;
  // Why a redirect is not followed although it was asked for; nullptr: it is.
  const char* refusalOf(const Result<Url>& to) const noexcept;
  // Whether a redirect was dealt with: the call has gone elsewhere, or is over.
  bool followed(net::Connection& connection, net::Chunk& in, const ReceivedHead& head) noexcept;
  void finish(net::Connection& connection, bool may_stay) noexcept;
  void lost(int sys_errno) noexcept;
  void failCall(const ClientFailure& failure) noexcept;
  Call* detach() noexcept;
  void giveSlot() noexcept;

  Client& client_;
  OriginPool& pool_;
  net::Connection* connection_ = nullptr;
  Call* call_ = nullptr;
  size_t index_ = 0;     // in the pool's vector
  Link in_pool_{*this};  // of idle ones
  Link in_client_{*this};
  std::vector<net::PeerAddr> addresses_;
  std::unique_ptr<ClientHeadSlot> slot_;
  BodyReader body_;
  ClientFailure fault_;  // of kBroken
  uint32_t next_address_ = 0;
  uint32_t interims_ = 0;
  uint32_t drained_bytes_ = 0;
  uint16_t keep_alive_s_ = 0;
  int error_ = 0;  // that onError has told
  State state_ = State::kResolving;
  bool kept_ = false;       // has served a call before
  bool got_bytes_ = false;  // of the answer
  bool keep_alive_ = false;
  bool waits_for_continue_ = false;
  bool refused_content_ = false;  // the answer came instead of 100 (Continue)
  bool content_sent_ = false;     // what there is besides a stream
};

}  // namespace roost::http::client
