#include "http/client_address.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/ascii.h"
#include "http/exchange.h"
#include "http/field_id.h"
#include "http/token_list.h"

namespace roost::http {
namespace {

bool isTokenChar(char c) noexcept {
  const auto u = static_cast<unsigned char>(c);
  if ((u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool parsePort(std::string_view digits, uint16_t& port) noexcept {
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return !digits.empty() && ec == std::errc{} && end == digits.data() + digits.size();
}

// The lines of one field from the last to the first. The names of a head lie in one table, so that is a scan.
class LinesFromEnd {
 public:
  LinesFromEnd(const RequestHead& head, FieldId id, std::string_view name) noexcept
      : head_(head), id_(id), name_(name), at_(head.field_count) {}
  bool next(std::string_view& value) noexcept {
    while (at_ > 0) {
      const Field& field = head_.fields[--at_];
      if (field.id != id_) continue;
      if (id_ == FieldId::kOther && !equalsToken(head_.name(field), name_)) continue;
      value = head_.value(field);
      return true;
    }
    return false;
  }

 private:
  const RequestHead& head_;
  const FieldId id_;
  const std::string_view name_;
  size_t at_;
};

// Where the quoted-string that ends at text[end] begins; npos where it does not.
size_t openingQuote(std::string_view text, size_t end) noexcept {
  for (size_t i = end; i-- > 0;) {
    if (text[i] != '"') continue;
    size_t backslashes = 0;
    while (backslashes < i && text[i - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

bool isRequestId(std::string_view text) noexcept {
  if (text.empty() || text.size() > ClientAddress::kMaxRequestIdBytes) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') ||
           std::string_view("-_.:+/=@").find(c) != std::string_view::npos;
  });
}

net::PeerAddr parseNode(std::string_view text) noexcept {
  uint16_t port = 0;
  if (!text.empty() && text.front() == '[') {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view after = text.substr(end + 1);
    if (!after.empty() && (after[0] != ':' || !parsePort(after.substr(1), port))) return {};
    const std::string_view ip = text.substr(1, end - 1);
    return ip.find(':') == std::string_view::npos ? net::PeerAddr{} : net::PeerAddr::parse(ip, port);
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return net::PeerAddr::parse(text);
  }
  return parsePort(text.substr(colon + 1), port) ? net::PeerAddr::parse(text.substr(0, colon), port)
                                                 : net::PeerAddr{};
}

bool takeLastElement(std::string_view& rest, std::string_view& element, bool quotes) noexcept {
  while (!rest.empty()) {
    size_t at = rest.size();
    while (at > 0 && rest[at - 1] != ',') {
      --at;
      if (!quotes || rest[at] != '"') continue;
      const size_t opening = openingQuote(rest, at);
      if (opening == std::string_view::npos) {
        quotes = false;  // stray, as are all in front of it; malformed, but it hides no comma
      } else {
        at = opening;
      }
    }
    element = trimOws(rest.substr(at));
    rest = rest.substr(0, at == 0 ? 0 : at - 1);
    if (!element.empty()) return true;
  }
  return false;
}

namespace {

// "name=value" at the front of `rest`; the value unquoted, in `room` where that takes a copy.
struct PairReader {
  std::string_view rest;
  char* room;
  size_t room_left;

  bool read(std::string_view& name, std::string_view& value) noexcept {
    size_t end = 0;
    while (end < rest.size() && isTokenChar(rest[end])) ++end;
    if (end == 0 || end == rest.size() || rest[end] != '=') return false;
    name = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && rest[0] == '"') return readQuoted(value);
    // Brackets and colons are no token characters, but proxies have been seen to leave the quotes out.
    end = std::min(rest.find_first_of("; \t\""), rest.size());
    value = rest.substr(0, end);
    rest.remove_prefix(end);
    return !value.empty();
  }

 private:
  bool readQuoted(std::string_view& value) noexcept {
    char* const begin = room;
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '"') {
        value = {begin, static_cast<size_t>(room - begin)};
        rest.remove_prefix(i + 1);
        return true;
      }
      if (rest[i] == '\\' && ++i == rest.size()) return false;
      if (room_left-- == 0) return false;
      *room++ = rest[i];
    }
    return false;
  }
};

}  // namespace

bool parseForwardedElement(std::string_view element, ForwardedElement& out) noexcept {
  out.node = out.proto = {};
  PairReader reader{element, out.room, sizeof out.room};
  while (true) {
    reader.rest = trimOws(reader.rest);
    if (reader.rest.empty()) return true;
    if (reader.rest[0] == ';') {  // an empty pair, which the grammar allows
      reader.rest.remove_prefix(1);
      continue;
    }
    std::string_view name, value;
    if (!reader.read(name, value)) return false;
    std::string_view* kept = equalsToken(name, "for")     ? &out.node
                             : equalsToken(name, "proto") ? &out.proto
                                                          : nullptr;
    if (kept != nullptr) {
      if (!kept->empty()) return false;  // each at most once
      *kept = value;
    }
    reader.rest = trimOws(reader.rest);
    if (!reader.rest.empty() && reader.rest[0] != ';') return false;
  }
}

ClientAddress::ClientAddress(Options options)
    : options_(std::move(options)),
      header_id_(fieldId(options_.header)),
      is_forwarded_(equalsToken(options_.header, "Forwarded")) {}

ClientAddress::Found ClientAddress::find(const RequestHead& head) const noexcept {
  Found found;
  walk(head, found);
  if (!is_forwarded_) findScheme(head, found);
  return found;
}

// From the nearest proxy outwards, as long as proxies are trusted.
void ClientAddress::walk(const RequestHead& head, Found& found) const noexcept {
  LinesFromEnd lines(head, header_id_, options_.header);
  std::string_view line, element;
  size_t hops = 0;
  while (lines.next(line)) {
    while (takeLastElement(line, element, is_forwarded_)) {
      if (++hops > kMaxHops) return;
      ForwardedElement parsed;
      if (!is_forwarded_) {
        parsed.node = element;
      } else if (!parseForwardedElement(element, parsed)) {
        return;
      }
      // A proxy that hides its client may still say how that came.
      if (!parsed.proto.empty()) {
        found.scheme_known = true;
        found.https = equalsToken(parsed.proto, "https");
      }
      const net::PeerAddr node = parseNode(parsed.node);
      if (node.family == 0) return;
      found.client = node;
      if (!options_.trusted.contains(node)) return;
    }
  }
}

// The nearest proxy's word alone: whether others behind it have overwritten a client's is not known.
void ClientAddress::findScheme(const RequestHead& head, Found& found) const noexcept {
  if (options_.scheme_header.empty()) return;
  LinesFromEnd lines(head, fieldId(options_.scheme_header), options_.scheme_header);
  std::string_view line, element;
  if (!lines.next(line) || !takeLastElement(line, element, false)) return;
  found.https = equalsToken(element, "https");
  found.scheme_known = found.https || equalsToken(element, "http");
}

void ClientAddress::apply(Exchange& exchange) const noexcept {
  if (!options_.trusted.contains(exchange.peer())) return;
  const RequestHead& head = exchange.request();
  const Found found = find(head);
  if (found.client.family != 0) exchange.setClient(found.client);
  if (found.scheme_known) exchange.setHttps(found.https);
  if (options_.take_request_id) {
    const Field* field = head.find(FieldId::kXRequestId);
    const bool once = field != nullptr && head.nextOf(*field) == nullptr;
    if (once && isRequestId(head.value(*field))) exchange.setRequestId(*field);
  }
  if (Trace* trace = exchange.trace()) {
    char text[net::PeerAddr::kMaxText];
    const std::string_view client(text, exchange.client().formatIp(text));
    trace->note(std::string("the peer is a trusted proxy: by ") + options_.header + " the client is " +
                std::string(client) + ", scheme " + std::string(exchange.scheme()));
  }
}

}  // namespace roost::http
