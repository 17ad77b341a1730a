"""How long a connection lives: RFC 9112 section 9."""

from exchange_case import CLOSES, HEAD_OK, OK, OK2, SECOND, Answer, Case, get, refused

STAYS = Answer(200, OK.body, Connection="keep-alive")
SILENT = Answer(200, OK.body, absent=("Connection",))


def closing(*lines, version=b"1.1"):
    """Nothing behind a request that closes is answered."""
    return get(*lines, version=version) + SECOND


CASES = [
    Case("9112 9.3", "1.1 persists without a word", get() + SECOND, SILENT, OK2),
    *(Case("9112 9.6", f"Connection {text.decode()!r}", closing(b"Connection: " + text), OK, end=CLOSES) for text in (
        b"close", b"Close", b"CLOSE", b"cLoSe", b"keep-alive, close", b"close, keep-alive", b"x,close", b"close , x",
        b",close", b"\tclose\t", b"upgrade,\tclose")),
    *(Case("9112 9.3", f"Connection {text.decode()!r}", get(b"Connection: " + text) + SECOND, OK, OK2) for text in (
        b"", b"keep-alive", b"Keep-Alive", b"closed", b"x-close", b"close-x", b"clos", b"close;x", b'"close"', b"te")),
    Case("9110 5.3", "close on the second of two lines", closing(b"Connection: x", b"connection: close"), OK, end=CLOSES),
    Case("9110 5.3", "close on the first of three lines",
         closing(b"Connection: close", b"X: y", b"Connection: keep-alive", b"Connection: x"), OK, end=CLOSES),
    Case("9112 9.3", "other fields mean nothing", get(b"Proxy-Connection: close", b"Keep-Alive: timeout=0") + SECOND,
         OK, OK2),
    Case("9112 9.3", "1.0 ends", closing(version=b"1.0"), OK, end=CLOSES),
    *(Case("9112 9.3", f"1.0 with {text.decode()!r} persists",
           get(b"Connection: " + text, version=b"1.0") + SECOND, STAYS, OK2)
      for text in (b"keep-alive", b"Keep-Alive", b"KEEP-ALIVE", b"x, keep-alive", b"keep-alive,")),
    *(Case("9112 9.3", f"1.0 with {text.decode()!r} ends", closing(b"Connection: " + text, version=b"1.0"), OK,
           end=CLOSES)
      for text in (b"close", b"keep-alive, close", b"close, keep-alive", b"keepalive", b"x", b"")),
    Case("9112 9.3", "1.0 HEAD persists", get(b"Connection: keep-alive", method=b"HEAD", version=b"1.0") + SECOND,
         HEAD_OK, OK2),
    Case("9112 9.3", "1.0 persists behind a 404", get(b"Connection: keep-alive", target=b"/no", version=b"1.0") + SECOND,
         Answer(404, Connection="keep-alive"), OK2),
    Case("9112 9.3.2", "sixteen requests at once", (get() + SECOND) * 8, *[OK, OK2] * 8),
    Case("9112 9.3.2", "all kinds of answers in order",
         get(method=b"HEAD") + get(target=b"/no") + SECOND + get(method=b"POST") + get(b"Range: bytes=0-4")
         + get(method=b"OPTIONS", target=b"*") + get(b"If-None-Match: *") + get(target=b"/sub") + get(),
         HEAD_OK, 404, OK2, 405, Answer(206, b"00000"), 204, Answer(304, b"", head=True), 301, OK),
    Case("9112 9.3.2", "empty lines between requests", get() + b"\r\n\r\n" + SECOND, OK, OK2),
    Case("9112 9.6", "close amidst others", get() + get(b"Connection: close", target=b"/second.txt") + get(), OK, OK2,
         end=CLOSES),
    Case("9112 9.3.2", "a bad request behind good ones", get() + SECOND + b"GET /\x00 HTTP/1.1\r\n\r\n" + get(), OK, OK2,
         400, end=CLOSES),
    Case("9112 9.3.2", "bodies between requests",
         get(b"Content-Length: 5") + b"hello" + get(b"Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n" + SECOND,
         OK, OK, OK2),
    refused("9112 9.3", "nothing persists behind 501", get(method=b"NEVER") + SECOND, 501),
    Case("9112 9.6", "an error closes where the client asks for it", get(b"Connection: close", target=b"/no") + SECOND,
         404, end=CLOSES),
]
