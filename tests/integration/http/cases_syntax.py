"""The request line and the field lines: RFC 9112 sections 2 to 5, RFC 9110 section 5."""

from exchange_case import ALIVE, CLOSES, HEAD_OK, INDEX, OK, Answer, Case, get, refused

LINE = b"GET /hello.txt HTTP/1.1\r\n"
HOST = b"Host: a\r\n"
END = LINE + HOST + b"\r\n"


def line(text):
    return text + b"\r\n" + HOST + b"\r\n"


LINES = [
    Case("9112 2.2", "one empty line before the request", b"\r\n" + END, OK),
    Case("9112 2.2", "four empty lines before the request", b"\r\n" * 4 + END, OK),
    refused("9112 2.2", "five empty lines before the request", b"\r\n" * 5 + END),
    refused("9112 2.2", "a bare LF before the request", b"\n" + END),
    refused("9112 2.2", "a bare LF ends the request line", b"GET /hello.txt HTTP/1.1\n" + HOST + b"\r\n"),
    refused("9112 2.2", "a bare LF ends a field line", LINE + b"Host: a\n\r\n"),
    refused("9112 2.2", "a bare LF ends the head", LINE + HOST + b"\n"),
    refused("9112 2.2", "bare LF throughout", b"GET /hello.txt HTTP/1.1\nHost: a\n\n"),
    refused("9112 2.2", "a bare CR in the request line", b"GET /hello.txt\rHTTP/1.1\r\n" + HOST + b"\r\n"),
    refused("9112 2.2", "a bare CR behind the version", b"GET /hello.txt HTTP/1.1\r" + HOST + b"\r\n"),
    refused("9112 2.2", "a bare CR in a field value", LINE + b"Host: a\rX: y\r\n\r\n"),
    refused("9112 2.2", "CR CR LF ends a field line", LINE + b"Host: a\r\r\n\r\n"),
    refused("9112 2.2", "a bare CR where the head ends", LINE + HOST + b"\rX: y\r\n\r\n"),
    refused("9112 2.2", "whitespace before the first field line", LINE + b" " + HOST + b"\r\n"),
    refused("9112 2.2", "a TLS client hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    refused("9112 2.2", "the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Case("9112 2.3", "HTTP/1.0", get(version=b"1.0"), OK, end=CLOSES),
    Case("9110 2.5", "a higher minor version is served as 1.1", get(version=b"1.2"), OK),
    Case("9110 2.5", "HTTP/1.9", get(version=b"1.9"), OK),
    *(refused("9112 2.3", f"version {text!r}", line(b"GET /hello.txt " + text)) for text in (
        b"HTTP/1", b"HTTP/1.", b"HTTP/.1", b"HTTP/1.10", b"HTTP/01.1", b"HTTP/11", b"http/1.1", b"Http/1.1",
        b"HTTPS/1.1", b"HTTP /1.1", b"HTTP/ 1.1", b"HTTP/1. 1", b"HTTP/1,1", b"HTTP/+1.1", b"HTTP/1.1 ",
        b"HTTP/1.1x", b"HTTP/1.1\t", b"HTTP/\xb9.1", b"ICY/1.1", b"HTTP/a.b", b"HTTP\\1.1")),
    *(refused("9110 15.6.6", f"version {text.decode()}", line(b"GET /hello.txt " + text), 505)
      for text in (b"HTTP/0.9", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/9.9")),
    refused("9112 2.3", "no version", b"GET /hello.txt\r\n\r\n"),
    refused("9112 3", "no target", line(b"GET HTTP/1.1")),
    refused("9112 3", "a method alone", b"GET\r\n\r\n"),
    refused("9112 3", "a space before the method", line(b" GET /hello.txt HTTP/1.1")),
    refused("9112 3", "two spaces behind the method", line(b"GET  /hello.txt HTTP/1.1")),
    refused("9112 3", "two spaces behind the target", line(b"GET /hello.txt  HTTP/1.1")),
    refused("9112 3", "a tab behind the method", line(b"GET\t/hello.txt HTTP/1.1")),
    refused("9112 3", "a tab behind the target", line(b"GET /hello.txt\tHTTP/1.1")),
    refused("9112 3.2", "a space within the target", line(b"GET /hello .txt HTTP/1.1")),
    *(refused("9110 9.1", f"method {text!r}", line(text + b" /hello.txt HTTP/1.1"))
      for text in (b"G@T", b"GE(T", b"GET,", b'"GET"', b"GE\xdf", b"G\x00T", b"G:T", b"G/T", b"{GET}")),
    *(refused("9112 3.2", f"byte {bytes([byte])!r} in the target", get(target=b"/hello.txt?" + bytes([byte])))
      for byte in (0, 1, 8, 0x1b, 0x7f, 0x80, 0xe9, 0xff)),
    refused("9112 3.2", "a fragment in the target", get(target=b"/hello.txt#top")),
]

FIELDS = [
    Case("9112 5.1", "no space behind the colon", get(b"X:y", host=b"Host:a"), OK),
    Case("9112 5.1", "whitespace around a value", get(b"X: \t y \t ", host=b"Host: \t a\t "), OK),
    Case("9112 5.1", "an empty value", get(b"X:", b"Y: "), OK),
    Case("9112 5.1", "a value of colons", get(b"X:::: :"), OK),
    Case("9110 5.1", "names in any case", get(b"cOnNeCtIoN: close", host=b"hOST: a"), OK, end=CLOSES),
    Case("9110 5.6.2", "a name of every token character", get(b"!#$%&'*+-.^_`|~09azAZ: y"), OK),
    Case("9110 5.3", "an unknown field twice", get(b"X: 1", b"X: 2"), OK),
    Case("9110 5.5", "obs-text in a value", get(b"X: \x80\xe9\xff"), OK),
    Case("9110 5.5", "a tab within a value", get(b"X: a\tb"), OK),
    *(refused("9112 5.1", name, get(text)) for name, text in (
        ("a space before the colon", b"X : y"), ("a tab before the colon", b"X\t: y"),
        ("a space within a name", b"X Y: z"), ("a line without a colon", b"XY"), ("an empty name", b": y"),
        ("only a colon", b":"))),
    *(refused("9110 5.1", f"byte {bytes([byte])!r} in a field name", get(b"X" + bytes([byte]) + b": y"))
      for byte in b'\x00\x01"(),/;<=>?@[\\]{}\x7f\x80\xff'),
    *(refused("9110 5.5", f"byte {bytes([byte])!r} in a field value", get(b"X: a" + bytes([byte]) + b"b"))
      for byte in (0, 1, 8, 0x0b, 0x0c, 0x1f, 0x7f)),
    refused("9112 5.2", "a folded line", get(b"X: a", b" b")),
    refused("9112 5.2", "a line folded by a tab", get(b"X: a", b"\tb")),
    refused("9112 5.2", "a folded line of spaces", get(b"X: a", b"  ")),
    refused("9112 5.2", "the Host folded", get(b" a", host=b"Host:")),
]

METHODS = [
    Case("9110 9.3.2", "HEAD", get(method=b"HEAD"), HEAD_OK),
    Case("9110 9.3.2", "HEAD of what is missing", get(method=b"HEAD", target=b"/no"), Answer(404, b"", head=True)),
    *(Case("9110 15.5.6", f"{method.decode()} of a file", get(method=method),
           Answer(405, Allow="GET, HEAD, OPTIONS"))
      for method in (b"POST", b"PUT", b"DELETE", b"PATCH", b"TRACE")),
    Case("9110 9.3.7", "OPTIONS of a file", get(method=b"OPTIONS"), Answer(204, b"", Allow="GET, HEAD, OPTIONS")),
    *(refused("9110 9.1", f"method {method.decode()}", get(method=method), 501)
      for method in (b"get", b"Get", b"GETS", b"GE", b"M-SEARCH", b"FROBNICATE", b"!#$%&'*+-.^_`|~", b"X" * 200)),
    refused("9110 9.3.6", "CONNECT", get(method=b"CONNECT", target=b"a:443"), 501),
    Case("9110 10.1.1", "Expect without content", get(b"Expect: 100-continue"), OK),
    Case("9110 10.1.1", "Expect in HTTP/1.0", get(b"Expect: whatever", version=b"1.0"), OK, end=CLOSES),
    refused("9110 10.1.1", "an expectation that is unknown", get(b"Expect: the-worst"), 417),
    refused("9110 10.1.1", "one known expectation of two", get(b"Expect: 100-continue, x"), 417),
    Case("9112 3.2.4", "OPTIONS *", get(method=b"OPTIONS", target=b"*"), Answer(204, b"", Allow="GET, HEAD, OPTIONS")),
    Case("9112 3.2.4", "OPTIONS * in HTTP/1.0", get(method=b"OPTIONS", target=b"*", version=b"1.0"), Answer(204, b""),
         end=CLOSES),
    refused("9112 3.2.4", "GET *", get(target=b"*")),
    refused("9112 3.2.4", "OPTIONS *x", get(method=b"OPTIONS", target=b"*x")),
    Case("9110 8.3", "the index of the root", get(target=b"/"), INDEX, end=ALIVE),
]

CASES = LINES + FIELDS + METHODS
