#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/exchange.h"

namespace roost::http {

// A text with variables in braces that a configuration may hold: "https://{host}{target}". Compiled once,
// filled in for each exchange. "{{" and "}}" stand for braces.
//
//   {method} {scheme} {host} {target} {path} {query}     of the request; target as sent, path decoded (or
//                                                        rewritten), query without '?'
//   {encoded_path}    the path, percent-encoded again
//   {client}          the client's address, without port; {client_port}; {peer} the connection's other end
//   {request_id}      see Exchange::requestId
//   {header.NAME}     a request field; {cookie.NAME}; {query.NAME} an argument of the query, decoded
//   {NAME}            a part of the route's path
//
// Immutable; any thread.
class Template {
 public:
  // `names` are the route's own parts, which a variable of that name means. Errors: a brace that is not
  // closed, an unknown variable (named in the message).
  static Result<Template> compile(std::string_view text, const std::vector<std::string>& names = {});

  // Whether it is the same for every exchange; then text() is what it says.
  bool isLiteral() const noexcept { return parts_.empty(); }
  const std::string& text() const noexcept { return text_; }

  // Appends the text for this exchange. Values are put in as they are: what may not stand at the place it is
  // meant for (a line break in a field's value) is the caller's to remove, see appendFieldValue(). REQUIRES:
  // not parked.
  void append(std::string& out, const Exchange& exchange) const;
  // The same with every byte that a field's value may not hold left out.
  void appendFieldValue(std::string& out, const Exchange& exchange) const;

 private:
  enum class Variable : uint8_t {
    kMethod,
    kScheme,
    kHost,
    kTarget,
    kPath,
    kEncodedPath,
    kQuery,
    kClient,
    kClientPort,
    kPeer,
    kRequestId,
    kHeader,
    kCookie,
    kQueryArgument,
    kParam
  };
  struct Part {
    std::string before;  // literal text in front of the variable
    Variable variable;
    std::string name;  // of a header, cookie, argument or path part
  };
  static void appendValue(std::string& out, const Part& part, const Exchange& exchange);

  std::vector<Part> parts_;
  std::string text_;  // behind the last variable
};

}  // namespace roost::http
