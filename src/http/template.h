#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/exchange.h"
#include "http/path_regex.h"

namespace roost::http {

// Errors: the text has a variable in nginx's spelling in it, "$host" or "$1", which would stand for itself;
// the message says how it is written here. For texts in which nobody means a dollar sign: paths, URIs,
// fields.
Status checkForeignVariables(std::string_view text);

// What is done to the values of variables, for the place where they are put.
enum class Escape : uint8_t {
  kNone,
  kHtml,  // text and quoted attributes, of XML too
  kJson,  // within a string's quotes
  kUriHost,
  kUriPath,
  kUriQuery,
  kUri,    // is URI text already: only what may not stand in one is encoded
  kScript  // within a string of JavaScript, whichever quotes it has
};

// Appends `value`, escaped.
void appendEscaped(std::string& out, std::string_view value, Escape escape);

// A text with variables in braces that a configuration may hold: "https://{host}{target}". Compiled once,
// filled in for each exchange. "{{" and "}}" stand for braces.
//
//   {method} {scheme} {host} {target} {path} {query}     of the request; target as sent, path decoded (or
//                                                        rewritten), query without '?'
//   {encoded_path}    the path, percent-encoded again
//   {client}          the client's address, without port; {client_port}; {peer} the connection's other end
//   {request_id}      see Exchange::requestId; {user} who has logged in, empty for nobody
//   {header.NAME}     a request field; {cookie.NAME}; {query.NAME} an argument of the query, decoded
//   {NAME}            a part of the route's path, or a group of an expression (Captures)
//
// Immutable; any thread.
class Template {
 public:
  // `names` are the route's own parts, which a variable of that name means. Errors: a brace that is not
  // closed, an unknown variable (named in the message).
  static Result<Template> compile(std::string_view text, const std::vector<std::string>& names = {},
                                  Escape escape = Escape::kNone);
  // For a Location: whatever a value holds, it stays in the part of the URI where its variable stands. In a
  // host it can bring no '/', '?', '#', '@' or ':', in a path no '?' or '#', in a query no '&', '=' or '+';
  // everything that may not stand in a URI is percent-encoded. {encoded_path}, {target}, {query} and {host}
  // are taken as they are where they belong. A text without "scheme://" in front names a path of the same
  // host, and gets exactly one slash to begin with: no value makes it "//elsewhere". See appendUri().
  static Result<Template> compileUri(std::string_view text, const std::vector<std::string>& names = {});
  // The same for what follows '?'.
  static Result<Template> compileQuery(std::string_view text, const std::vector<std::string>& names = {});

  // Whether it is the same for every exchange; then text() is what it says.
  bool isLiteral() const noexcept { return parts_.empty(); }
  const std::string& text() const noexcept { return text_; }

  // Appends the text for this exchange. Values are put in as they are: what may not stand at the place it is
  // meant for (a line break in a field's value) is the caller's to remove, see appendFieldValue(). REQUIRES:
  // not parked.
  // `captures` know names the exchange does not.
  void append(std::string& out, const Exchange& exchange, const Captures* captures = nullptr) const;
  // What compileUri() has made.
  void appendUri(std::string& out, const Exchange& exchange) const;
  // The same as append() with every byte that a field's value may not hold left out.
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
    kUser,
    kHeader,
    kCookie,
    kQueryArgument,
    kParam
  };
  struct Part {
    std::string before;  // literal text in front of the variable
    Variable variable;
    std::string name;  // of a header, cookie, argument or path part
    Escape escape = Escape::kNone;
  };
  static void appendValue(std::string& out, const Part& part, const Exchange& exchange,
                          const Captures* captures);
  void placeInUri(Escape place);

  std::vector<Part> parts_;
  std::string text_;          // behind the last variable
  bool is_own_path_ = false;  // of compileUri: begins with one slash
};

}  // namespace roost::http
