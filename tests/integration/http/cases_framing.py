"""Where a message ends: RFC 9112 sections 6, 7 and 11.2. A request behind each body shows who took which bytes."""

from exchange_case import CUT, OK, OK2, SECOND, Answer, Case, get, refused

NOT_ALLOWED = Answer(405, Allow="GET, HEAD, OPTIONS")
CHUNKED = get(b"Transfer-Encoding: chunked")


def sized(value, body=b"hello"):
    return get(b"Content-Length: " + value) + body + SECOND


def coded(*lines, version=b"1.1"):
    return get(*lines, version=version) + b"5\r\nhello\r\n0\r\n\r\n" + SECOND


LENGTHS = [
    Case("9112 6.2", "Content-Length", sized(b"5"), OK, OK2),
    Case("9112 6.2", "Content-Length 0", sized(b"0", b""), OK, OK2),
    Case("9110 8.6", "Content-Length with leading zeros", sized(b"000000000000000000000000005"), OK, OK2),
    Case("9112 6.2", "a body that looks like a request", sized(b"%d" % len(SECOND), SECOND), OK, OK2),
    Case("9112 6.2", "POST with a body", get(b"Content-Length: 5", method=b"POST") + b"hello" + SECOND,
         NOT_ALLOWED, OK2),
    Case("9112 6.2", "OPTIONS * with a body",
         get(b"Content-Length: 5", method=b"OPTIONS", target=b"*") + b"hello" + SECOND, 204, OK2),
    Case("9112 6.2", "content-length in lower case", get(b"content-length:5") + b"hello" + SECOND, OK, OK2),
    Case("9112 6.3", "no length means no body", get() + SECOND, OK, OK2),
    Case("9112 6.3", "POST without a length", get(method=b"POST") + SECOND, NOT_ALLOWED, OK2),
    *(refused("9112 6.3", f"Content-Length {text!r}", sized(text)) for text in (
        b"", b"+5", b"-5", b"-0", b"0x5", b"5x", b"x", b"5 5", b"5,5", b"5, 5", b"5,6", b",5", b"5,", b"5;", b"5.0",
        b"5e0", b'"5"', b"5_0", b"\xb25", b"0b101", b"5\t5", b"9223372036854775808", b"18446744073709551615",
        b"18446744073709551621", b"340282366920938463463374607431768211461", b"9" * 200)),
    refused("9112 6.3", "Content-Length twice, the same", get(b"Content-Length: 5", b"Content-Length: 5") + b"hello"),
    refused("9112 6.3", "Content-Length twice, differing", get(b"Content-Length: 5", b"Content-Length: 6") + b"hello!"),
    refused("9112 6.3", "Content-Length twice in HTTP/1.0",
            get(b"Content-Length: 5", b"content-length: 0", version=b"1.0") + b"hello"),
    refused("9110 15.5.14", "the largest Content-Length", sized(b"9223372036854775807"), 413),
    refused("9112 5.1", "Content-Length before a space", get(b"Content-Length : 5") + b"hello" + SECOND),
    refused("9112 5.2", "Content-Length folded", get(b"Content-Length:", b" 5") + b"hello" + SECOND),
    refused("9112 2.2", "Content-Length behind a bare LF", get(b"X: y\nContent-Length: 5") + b"hello" + SECOND),
    refused("9110 5.5", "Content-Length behind a NUL", get(b"X: y\0Content-Length: 5") + b"hello" + SECOND),
]

CODINGS = [
    Case("9112 6.1", "chunked", coded(b"Transfer-Encoding: chunked"), OK, OK2),
    Case("9112 7", "codings in any case", coded(b"tRANSFER-eNCODING: CHUNKED"), OK, OK2),
    Case("9110 5.6.1", "empty members of the list", coded(b"Transfer-Encoding: , chunked ,\t,"), OK, OK2),
    Case("9112 6.1", "POST, chunked", get(b"Transfer-Encoding: chunked", method=b"POST") + b"0\r\n\r\n" + SECOND,
         NOT_ALLOWED, OK2),
    refused("9112 6.1", "Content-Length before Transfer-Encoding",
            coded(b"Content-Length: 5", b"Transfer-Encoding: chunked")),
    refused("9112 6.1", "Content-Length behind Transfer-Encoding",
            coded(b"Transfer-Encoding: chunked", b"Content-Length: 0")),
    refused("9112 6.1", "Content-Length and an unknown coding", coded(b"Transfer-Encoding: x", b"Content-Length: 5")),
    refused("9112 6.1", "Transfer-Encoding in HTTP/1.0", coded(b"Transfer-Encoding: chunked", version=b"1.0")),
    refused("9112 6.1", "Transfer-Encoding in HTTP/1.0 that would stay",
            coded(b"Transfer-Encoding: chunked", b"Connection: keep-alive", version=b"1.0")),
    *(refused("9112 6.3", f"Transfer-Encoding {text!r}", coded(b"Transfer-Encoding: " + text)) for text in (
        b"", b",", b"chunked, chunked", b"chunked,gzip", b"chunked, identity", b'"chunked"', b"'chunked'",
        b"chunked;q=1", b"chunked;", b"chu nked", b"chunked x", b"\xa0chunked", b"chunked\x0b", b"\x00chunked",
        b"=chunked", b"chunked/1", b"[chunked]", b"gzip", b"identity", b"xchunked", b"chunkedx", b"chunk")),
    *(refused("9112 6.1", f"Transfer-Encoding {text!r}", coded(b"Transfer-Encoding: " + text), 501)
      for text in (b"gzip, chunked", b"identity, chunked")),
    refused("9112 6.1", "chunked on two lines", coded(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked")),
    refused("9112 6.1", "chunked and identity on two lines",
            coded(b"Transfer-Encoding: chunked", b"Transfer-encoding: identity")),
    refused("9112 5.1", "Transfer-Encoding before a space", coded(b"Transfer-Encoding : chunked")),
    refused("9112 5.1", "Transfer-Encoding before a tab", coded(b"Transfer-Encoding\t: chunked")),
    refused("9112 5.2", "Transfer-Encoding folded", coded(b"Transfer-Encoding:", b" chunked")),
    refused("9112 2.2", "Transfer-Encoding behind a bare CR", coded(b"X: y\rTransfer-Encoding: chunked")),
    Case("9112 11.2", "other names mean nothing",
         get(b"Transfer_Encoding: chunked", b"XTransfer-Encoding: chunked", b"Content_Length: 9", b"Content-Length: 5")
         + b"hello" + SECOND, OK, OK2),
]

GOOD_CHUNKS = [
    b"0\r\n\r\n", b"000\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"1\r\nh\r\n4\r\nello\r\n0\r\n\r\n",
    b"A\r\n0123456789\r\n0\r\n\r\n", b"a\r\n0123456789\r\n0\r\n\r\n", b"00000000000000005\r\nhello\r\n0\r\n\r\n",
    b"5;a\r\nhello\r\n0\r\n\r\n", b"5;a=b\r\nhello\r\n0;c=d\r\n\r\n", b'5;a="b;\\" c"\r\nhello\r\n0\r\n\r\n',
    b"5 ; a = b\r\nhello\r\n0\r\n\r\n", b"5;a;b;c=d\r\nhello\r\n0\r\n\r\n", b"5\r\n0\r\n\r\n\r\n0\r\n\r\n",
    b"0\r\nX: y\r\n\r\n", b"0\r\nX: y\r\nZ:\r\n\r\n",
    b"0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nHost: b\r\n\r\n",
    b"0\r\nConnection: close\r\n\r\n",
]
BAD_CHUNKS = [
    b"\r\n", b"g\r\n", b"+5\r\nhello\r\n", b"-5\r\nhello\r\n", b"0x5\r\nhello\r\n", b" 5\r\nhello\r\n",
    b"5 \r\nhello\r\n", b"5\nhello\r\n", b"5\rhello\r\n", b"5;\r\nhello\r\n", b"5;a\nhello\r\n", b"5;a=\r\nhello\r\n",
    b"5;=a\r\nhello\r\n", b"5;a=\0\r\nhello\r\n", b'5;a="b\r\nhello\r\n', b"5 5\r\nhello\r\n", b"5\r\nhelloo\r\n",
    b"5\r\nhell\r\n0\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n", b"5\r\nhello\r0\r\n\r\n",
    b"5\r\nhello\r\n\r\n", b"FFFFFFFFFFFFFFFF1\r\nx\r\n", b"10000000000000000\r\nx\r\n", b"1000000000000000\r\nx\r\n",
    b"5, 5\r\nhello\r\n", b"5\r\nhello\r\n-0\r\n\r\n", b"0\n\r\n", b"0\r\n\n", b"0\r\nX y\r\n\r\n", b"0\r\nX : y\r\n\r\n",
    b"0\r\n X: y\r\n\r\n", b"0\r\nX: y\n\r\n", b"0\r\nX: \0\r\n\r\n", b"0\r\n: y\r\n\r\n", b"0\r\nX: y\r\n z\r\n\r\n",
    b"\xef\xbb\xbf5\r\nhello\r\n", b"5;a=" + b"b" * 1100 + b"\r\nhello\r\n",
]
CHUNKS = [
    *(Case("9112 7.1", f"chunks {body[:40]!r}", CHUNKED + body + SECOND, OK, OK2) for body in GOOD_CHUNKS),
    *(Case("9112 7.1", f"chunks {body[:40]!r}", CHUNKED + body + SECOND, OK, end=CUT) for body in BAD_CHUNKS),
]

CASES = LENGTHS + CODINGS + CHUNKS
