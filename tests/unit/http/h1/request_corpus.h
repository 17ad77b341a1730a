// Requests good and bad, each with the status the parser answers: 0 where it accepts the head. The section of
// the RFC that decides stands beside them (9110 and 9112 are meant where no other is named).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roost::http::h1 {

struct CorpusEntry {
  int status;
  std::string text;
};

// The corpus is written without line ends to be readable: "|" stands for CRLF.
inline std::string withLineEnds(std::string_view text) {
  std::string out;
  for (const char c : text) c == '|' ? out += "\r\n" : out += c;
  return out;
}

inline std::vector<CorpusEntry> requestCorpus() {
  using namespace std::string_view_literals;
  struct Line {
    int status;
    std::string_view text;
  };
  static constexpr Line kLines[] = {
      // Request line, 9112 section 3.
      {0, "GET / HTTP/1.1|Host: a||"},
      {0, "GET / HTTP/1.0||"},
      {0, "GET / HTTP/1.9|Host: a||"},
      {0, "HEAD /index.html HTTP/1.1|Host: a||"},
      {0, "POST /form HTTP/1.1|Host: a|Content-Length: 3||abc"},
      {0, "PUT /x HTTP/1.1|Host: a||"},
      {0, "DELETE /x HTTP/1.1|Host: a||"},
      {0, "TRACE /x HTTP/1.1|Host: a||"},
      {0, "PATCH /x HTTP/1.1|Host: a||"},
      {0, "OPTIONS /x HTTP/1.1|Host: a||"},
      {0, "get / HTTP/1.1|Host: a||"},
      {0, "G / HTTP/1.1|Host: a||"},
      {0, "GETT / HTTP/1.1|Host: a||"},
      {0, "PROPFIND / HTTP/1.1|Host: a||"},
      {0, "VERSION-CONTROL /a HTTP/1.1|Host: a||"},
      {0, "!#$%&'*+-.^_`~09azAZ / HTTP/1.1|Host: a||"},
      {400, "GE(T / HTTP/1.1|Host: a||"},
      {400, "GE\tT / HTTP/1.1|Host: a||"},
      {400, "G\x80T / HTTP/1.1|Host: a||"},
      {400, "GET\t/ HTTP/1.1|Host: a||"},
      {400, "GET  / HTTP/1.1|Host: a||"},
      {400, "GET /  HTTP/1.1|Host: a||"},
      {400, "GET / HTTP/1.1 |Host: a||"},
      {400, " GET / HTTP/1.1|Host: a||"},
      {400, "GET / HTTP/1.1\nHost: a\n\n"},
      {400, "GET / HTTP/1.1\rHost: a\r\r"},
      {400, "GET / HTTP/1.1\r\r\nHost: a||"},
      {400, "GET /|Host: a||"},
      {400, "GET /\n"},
      {400, "GET|"},
      {400, "GET |"},
      {400, "/ HTTP/1.1||"},
      {400, "\"GET\" / HTTP/1.1||"},
      {400, "GET / HTTP/1.1\0|Host: a||"sv},
      {400, "\0GET / HTTP/1.1|Host: a||"sv},
      {400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"sv},  // a TLS client hello
      // Version, 9112 section 2.3.
      {505, "GET / HTTP/2.0|Host: a||"},
      {505, "GET / HTTP/0.9|Host: a||"},
      {505, "GET / HTTP/9.9|Host: a||"},
      {400, "GET / HTTP/1|Host: a||"},
      {400, "GET / HTTP/1.|Host: a||"},
      {400, "GET / HTTP/1.10|Host: a||"},
      {400, "GET / HTTP/11.1|Host: a||"},
      {400, "GET / HTTP/1,1|Host: a||"},
      {400, "GET / http/1.1|Host: a||"},
      {400, "GET / HTTPS/1.1|Host: a||"},
      {400, "GET / ICY/1.1|Host: a||"},
      {400, "GET / HTTP /1.1|Host: a||"},
      {400, "GET / HTTP/-1.1|Host: a||"},
      {400, "GET / |Host: a||"},
      {400, "PRI * HTTP/2.0||SM||"},
      // Empty lines before the request line, 9112 section 2.2.
      {0, "|GET / HTTP/1.1|Host: a||"},
      {0, "||||GET / HTTP/1.1|Host: a||"},
      {400, "|||||GET / HTTP/1.1|Host: a||"},
      {400, "\nGET / HTTP/1.1|Host: a||"},
      {400, "\rGET / HTTP/1.1|Host: a||"},
      {400, "| GET / HTTP/1.1|Host: a||"},
      // Origin form, 9112 section 3.2.1.
      {0, "GET /a/b/c.html HTTP/1.1|Host: a||"},
      {0, "GET //a//b HTTP/1.1|Host: a||"},
      {0, "GET /? HTTP/1.1|Host: a||"},
      {0, "GET /?? HTTP/1.1|Host: a||"},
      {0, "GET /a?b=c&d=e HTTP/1.1|Host: a||"},
      {0, "GET /a?b=/c?d=e HTTP/1.1|Host: a||"},
      {0, "GET /%41%zz% HTTP/1.1|Host: a||"},
      {0, "GET /~a!b$c&d'e(f)g*h+i,j;k=l:m@n HTTP/1.1|Host: a||"},
      {0, "GET /a\"b<c>d^e`f{g}h[i]j\\k HTTP/1.1|Host: a||"},
      {0, "GET /../../etc/passwd HTTP/1.1|Host: a||"},
      {0,
       "GET "
       "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef?0123456789abcdef0123456789abcdef "
       "HTTP/1.1|Host: a||"},
      {400, "GET /a#b HTTP/1.1|Host: a||"},
      {400, "GET /a?b#c HTTP/1.1|Host: a||"},
      {400, "GET # HTTP/1.1|Host: a||"},
      {400, "GET /a\tb HTTP/1.1|Host: a||"},
      {400, "GET /a\x01 HTTP/1.1|Host: a||"},
      {400, "GET /a\x7f HTTP/1.1|Host: a||"},
      {400, "GET /a\0b HTTP/1.1|Host: a||"sv},
      {400, "GET /a\xc3\xa4 HTTP/1.1|Host: a||"},
      {400, "GET /a?\xff HTTP/1.1|Host: a||"},
      {400, "GET /a\rb HTTP/1.1|Host: a||"},
      {400, "GET /a b HTTP/1.1|Host: a||"},
      {400, "GET index.html HTTP/1.1|Host: a||"},
      {400, "GET ?a HTTP/1.1|Host: a||"},
      {400, "GET a HTTP/1.1|Host: a||"},
      {400, "GET h HTTP/1.1|Host: a||"},
      // Absolute form, 9112 section 3.2.2.
      {0, "GET http://example.org/ HTTP/1.1|Host: a||"},
      {0, "GET http://example.org HTTP/1.1|Host: a||"},
      {0, "GET http://example.org?q HTTP/1.1|Host: a||"},
      {0, "GET http://example.org/?q HTTP/1.1|Host: a||"},
      {0, "GET http://example.org/a/b?q=1?2 HTTP/1.1|Host: a||"},
      {0, "GET HTTPS://EXAMPLE.org:8443/a HTTP/1.1|Host: a||"},
      {0, "GET http://example.org: HTTP/1.1|Host: a||"},
      {0, "GET http://[::1]:80/ HTTP/1.1|Host: a||"},
      {0, "GET http://[2001:db8::192.0.2.1] HTTP/1.1|Host: a||"},
      {0, "GET http://a%2db/ HTTP/1.1|Host: a||"},
      {0, "OPTIONS http://example.org HTTP/1.1|Host: a||"},
      {400, "GET http:///a HTTP/1.1|Host: a||"},
      {400, "GET http:// HTTP/1.1|Host: a||"},
      {400, "GET http://?q HTTP/1.1|Host: a||"},
      {400, "GET http://:80/ HTTP/1.1|Host: a||"},
      {400, "GET http:/a HTTP/1.1|Host: a||"},
      {400, "GET http:a HTTP/1.1|Host: a||"},
      {400, "GET http HTTP/1.1|Host: a||"},
      {400, "GET httpss://a/ HTTP/1.1|Host: a||"},
      {400, "GET ftp://a/ HTTP/1.1|Host: a||"},
      {400, "GET http://user@example.org/ HTTP/1.1|Host: a||"},
      {400, "GET http://user:pw@example.org/ HTTP/1.1|Host: a||"},
      {400, "GET http://a:8a/ HTTP/1.1|Host: a||"},
      {400, "GET http://a:80:80/ HTTP/1.1|Host: a||"},
      {400, "GET http://a%2/ HTTP/1.1|Host: a||"},
      {400, "GET http://a%zz/ HTTP/1.1|Host: a||"},
      {400, "GET http://[::1/ HTTP/1.1|Host: a||"},
      {400, "GET http://[]/ HTTP/1.1|Host: a||"},
      {400, "GET http://[::1]a/ HTTP/1.1|Host: a||"},
      {400, "GET http://[::g]/ HTTP/1.1|Host: a||"},
      {400, "GET http://a\\b/ HTTP/1.1|Host: a||"},
      {400, "GET http://a#b HTTP/1.1|Host: a||"},
      {400, "GET http://a/#b HTTP/1.1|Host: a||"},
      // Authority and asterisk form, 9112 sections 3.2.3 and 3.2.4.
      {0, "CONNECT example.org:443 HTTP/1.1|Host: a||"},
      {0, "CONNECT [::1]:443 HTTP/1.1|Host: a||"},
      {400, "CONNECT example.org HTTP/1.1|Host: a||"},
      {400, "CONNECT example.org: HTTP/1.1|Host: a||"},
      {400, "CONNECT :443 HTTP/1.1|Host: a||"},
      {400, "CONNECT / HTTP/1.1|Host: a||"},
      {400, "CONNECT * HTTP/1.1|Host: a||"},
      {400, "CONNECT http://a:1/ HTTP/1.1|Host: a||"},
      {400, "CONNECT a:1/ HTTP/1.1|Host: a||"},
      {400, "CONNECT a:1?b HTTP/1.1|Host: a||"},
      {400, "GET example.org:443 HTTP/1.1|Host: a||"},
      {0, "OPTIONS * HTTP/1.1|Host: a||"},
      {400, "GET * HTTP/1.1|Host: a||"},
      {400, "OPTIONS *a HTTP/1.1|Host: a||"},
      {400, "OPTIONS ** HTTP/1.1|Host: a||"},
      {400, "OPTIONS *?a HTTP/1.1|Host: a||"},
      // Field lines, 9112 section 5 and 9110 section 5.5.
      {0, "GET / HTTP/1.1|Host:a||"},
      {0, "GET / HTTP/1.1|Host:  a||"},
      {0, "GET / HTTP/1.1|Host:\ta\t||"},
      {0, "GET / HTTP/1.1|Host: a   ||"},
      {0, "GET / HTTP/1.1|Host:||"},
      {0, "GET / HTTP/1.1|Host: ||"},
      {0, "GET / HTTP/1.1|Host: \t \t||"},
      {0, "GET / HTTP/1.1|host: a|HOST: b|hOsT: c||"},
      {0, "GET / HTTP/1.1|X: a\tb c  d|Y: \xc3\xa4\xff\x80||"},
      {0, "GET / HTTP/1.1|A: b:c:d|B: :|C: a,b, c||"},
      {0, "GET / HTTP/1.1|!#$%&'*+-.^_`~09azAZ: x|Host: a||"},
      {0, "GET / HTTP/1.1|X_Y: a|X.Y: b|X2: c|1: d||"},
      {0,
       "GET / HTTP/1.1|If-None-Match: \"a\"|If-None-Match: \"b\"|Accept-Encoding: gzip|if-none-match: "
       "W/\"c\"||"},
      {0, "GET / HTTP/1.1|Te: a|VIA: b|Sec-WebSocket-Extensions: c|Sec-WebSocket-Extensionz: d|X: e||"},
      {0, "GET / HTTP/1.1|T: a|ab: b|hosts: c|hos: d|Hxst: e|conte\x7et-length: 1||"},
      {0,
       "GET / HTTP/1.1|Cookie: "
       "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
       "89|Host: a||"},
      {0,
       "GET / "
       "HTTP/1.1|Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: "
       "b|Host: a||"},
      {400, "GET / HTTP/1.1|Host : a||"},
      {400, "GET / HTTP/1.1|Host\t: a||"},
      {400, "GET / HTTP/1.1|Ho st: a||"},
      {400, "GET / HTTP/1.1| Host: a||"},
      {400, "GET / HTTP/1.1|\tHost: a||"},
      {400, "GET / HTTP/1.1|Host: a| b||"},
      {400, "GET / HTTP/1.1|Host: a|\tb||"},
      {400, "GET / HTTP/1.1|X: a| |Host: a||"},
      {400, "GET / HTTP/1.1|: a||"},
      {400, "GET / HTTP/1.1|Host||"},
      {400, "GET / HTTP/1.1|Host a||"},
      {400, "GET / HTTP/1.1|Host: a\n\n"},
      {400, "GET / HTTP/1.1|Host: a\nX: b||"},
      {400, "GET / HTTP/1.1|Host: a\rX: b||"},
      {400, "GET / HTTP/1.1|Host: a\r\r\n|"},
      {400, "GET / HTTP/1.1|Host: a|\n"},
      {400, "GET / HTTP/1.1|Host: a|\rX"},
      {400, "GET / HTTP/1.1|Host: a\0b||"sv},
      {400, "GET / HTTP/1.1|Host: a\x01||"},
      {400, "GET / HTTP/1.1|Host: a\x08||"},
      {400, "GET / HTTP/1.1|Host: a\x0b||"},
      {400, "GET / HTTP/1.1|Host: a\x1f||"},
      {400, "GET / HTTP/1.1|Host: a\x7f||"},
      {400, "GET / HTTP/1.1|Ho\0st: a||"sv},
      {400, "GET / HTTP/1.1|H\xc3\xb6st: a||"},
      {400, "GET / HTTP/1.1|Ho\x7fst: a||"},
      {400, "GET / HTTP/1.1|Host(: a||"},
      {400, "GET / HTTP/1.1|\"Host\": a||"},
      {400, "GET / HTTP/1.1|Ho,st: a||"},
      {400, "GET / HTTP/1.1|Ho/st: a||"},
      {400, "GET / HTTP/1.1|Ho;st: a||"},
      {400, "GET / HTTP/1.1|Ho@st: a||"},
      {400, "GET / HTTP/1.1|Ho[st]: a||"},
      {400, "GET / HTTP/1.1|Ho{st}: a||"},
      {400, "GET / HTTP/1.1|Ho\\st: a||"},
      {400, "GET / HTTP/1.1|Content\rLength: a||"},  // CR and '-' differ by the bit that folds case
      {400, "GET / HTTP/1.1|Content\nLength: a||"},
      {400, "GET / HTTP/1.1|Transfer-Encoding\v: chunked||"},
      {400, "GET / HTTP/1.1|Transfer-Encoding\xa0: chunked||"},
      {400, "GET / HTTP/1.1|X: y|GET / HTTP/1.1|Host: a||"},
      {400,
       "GET / HTTP/1.1|Host: a|X: 0123456789012345678901234567890123456789012345678901234567890123456789\x00||"sv},
      // Heads that go on into the next message, 9112 section 9.3.2.
      {0, "GET /1 HTTP/1.1|Host: a||GET /2 HTTP/1.1|Host: b||"},
      {0, "POST /1 HTTP/1.1|Host: a|Transfer-Encoding: chunked||5|hello|0||"},
      {0, "GET / HTTP/1.1|Host: a||\0\0\0\n\r\n"sv},
  };
  std::vector<CorpusEntry> corpus;
  for (const Line& line : kLines) corpus.push_back({line.status, withLineEnds(line.text)});
  return corpus;
}

}  // namespace roost::http::h1
