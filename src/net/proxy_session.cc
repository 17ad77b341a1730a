#include "net/proxy_session.h"

#include "log/log.h"
#include "net/proxy_protocol.h"

namespace roost::net {

void ProxySession::onConnected(Connection& connection) noexcept {
  const bool anybody = options_.trusted == nullptr || options_.trusted->empty();
  if (!anybody && !options_.trusted->contains(connection.peer())) {
    LOG_EVERY_SECOND(WARN, "{}: closed: not among proxy_protocol_trusted", connection.peer().toString());
    if (options_.refused != nullptr) options_.refused->add();
    connection.close();
    return;
  }
  connection.setDeadline(options_.timeout_ms);
}

void ProxySession::onRead(Connection& connection, Chunk& in) noexcept {
  const ProxyHeader header = parseProxyHeader({in.data(), in.size()});
  if (header.state == ProxyHeader::State::kNeedMore) return;
  if (header.state == ProxyHeader::State::kError) {
    LOG_EVERY_SECOND(WARN, "{}: closed: PROXY protocol: {}", connection.peer().toString(), header.error);
    connection.close();
    return;
  }
  in.consume(header.size);
  if (header.client.family != 0) {
    if (options_.blocked != nullptr && options_.blocked->contains(header.client)) {
      if (options_.refused != nullptr) options_.refused->add();
      connection.close();
      return;
    }
    connection.setPeer(header.client);
  }
  Session& session = next_.sessionFor(connection);
  connection.setSession(session);
  session.onConnected(connection);
  if (!in.empty() && !connection.closed()) session.onRead(connection, in);
}

void ProxySession::onReadEnd(Connection& connection) noexcept {
  if (connection.unreadBytes() > 0) {
    LOG_EVERY_SECOND(WARN, "{}: closed: PROXY protocol: the header is cut off", connection.peer().toString());
  }
  connection.close();
}

void ProxySession::onTimeout(Connection& connection) noexcept {
  LOG_EVERY_SECOND(WARN, "{}: closed: PROXY protocol: no header in time", connection.peer().toString());
  connection.close();
}

}  // namespace roost::net
