#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"
#include "net/address.h"
#include "net/cidr_map.h"

namespace roost::http {

class Exchange;

// Who asked, where proxies that are trusted stand in between (`http.client_address`). Immutable; owned by the
// Service's options; any thread.
//
// The proxies' field is read from its end, where the nearest one has written: as long as an address is that
// of a trusted proxy, what stands before it is believed too. What other peers send is not even looked at.
class ClientAddress {
 public:
  struct Options {
    net::CidrSet trusted;
    std::string header = "X-Forwarded-For";           // "Forwarded" is read by RFC 7239, any other as a list
    std::string scheme_header = "X-Forwarded-Proto";  // not for "Forwarded", which has its own; "": none
    bool take_request_id = true;
  };
  // Addresses that are looked at in one request; a chain of proxies is never that long.
  static constexpr size_t kMaxHops = 32;
  static constexpr size_t kMaxRequestIdBytes = 128;

  explicit ClientAddress(Options options);

  // Sets the exchange's client, scheme and request id, where its peer is trusted. One look-up by address
  // otherwise.
  void apply(Exchange& exchange) const noexcept;

  struct Found {
    net::PeerAddr client{};  // family 0: the field names nobody
    bool scheme_known = false;
    bool https = false;
  };
  // What the head says, provided that whoever sent it is trusted.
  Found find(const RequestHead& head) const noexcept;

 private:
  void walk(const RequestHead& head, Found& found) const noexcept;
  void findScheme(const RequestHead& head, Found& found) const noexcept;

  const Options options_;
  const FieldId header_id_;
  const bool is_forwarded_;
};

// "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80": an address as proxies
// write it. Family 0 for everything else ("unknown", "_hidden").
net::PeerAddr parseNode(std::string_view text) noexcept;

// Whether a text may stand as a request's id: 1 to kMaxRequestIdBytes of letters, digits and "-_.:+/=@".
bool isRequestId(std::string_view text) noexcept;

// Takes the last element off a list field's value; false when none is left. Elements come without surrounding
// whitespace; a comma inside a quoted-string does not separate where `quotes`. Reading from the end, so that
// nothing in front of an element, such as a quote that is never closed, changes what it says.
bool takeLastElement(std::string_view& rest, std::string_view& element, bool quotes) noexcept;

// One element of Forwarded (RFC 7239 section 4): the values of "for" and "proto", unquoted, empty where they
// are not there. False where it is malformed. `room` holds what had to be unquoted; a longer value is
// malformed.
struct ForwardedElement {
  std::string_view node;
  std::string_view proto;
  char room[128];
};
bool parseForwardedElement(std::string_view element, ForwardedElement& out) noexcept;

}  // namespace roost::http
