"""Ranges: RFC 9110 section 14. Several at once are in test_multipart.py."""

from exchange_case import FILES, HEAD_OK, OK, Answer, Case, get

EMPTY = b"/empty.txt"
LARGE = b"/64k-and-one.txt"


def case(answer, value, target=b"/hello.txt", rfc="9110 14.1.2", method=b"GET"):
    name = f"{method.decode()} {target.decode()} {value.decode('latin-1')!r}"
    return Case(rfc, name, get(b"Range: " + value, target=target, method=method), answer)


def part(first, last, file="hello.txt"):
    content = FILES[file]
    return Answer(206, content[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(content)}",
                  Content_Length=str(last - first + 1), Content_Type="text/plain; charset=utf-8")


def none_of(size):
    return Answer(416, Content_Range=f"bytes */{size}")


BEYOND = b"99999999999999999999999999"

SATISFIED = [case(part(first, last), value) for first, last, value in (
    (0, 0, b"bytes=0-0"), (0, 611, b"bytes=0-"), (0, 611, b"bytes=0-611"), (1, 611, b"bytes=1-"),
    (611, 611, b"bytes=611-"), (611, 611, b"bytes=611-611"), (600, 611, b"bytes=600-9999"), (100, 199, b"bytes=100-199"),
    (5, 5, b"bytes=5-5"), (5, 6, b"bytes=0005-00000000000000000000000006"), (611, 611, b"bytes=-1"),
    (112, 611, b"bytes=-500"), (0, 611, b"bytes=-612"), (0, 611, b"bytes=-613"), (0, 611, b"bytes=-" + BEYOND),
    (0, 611, b"bytes=0-" + BEYOND), (0, 611, b"bytes=0-18446744073709551615"), (9, 611, b"bytes=9-18446744073709551616"),
    # What is left of a list when it comes down to one.
    (0, 0, b"bytes=,0-0"), (0, 0, b"bytes=0-0,"), (0, 0, b"bytes= 0-0"), (0, 0, b"bytes=0-0\t,\t"),
    (0, 9, b"bytes=0-9,9999-"), (0, 9, b"bytes=9999-,0-9"), (3, 4, b"bytes=-0,3-4"),
    # Overlapping and adjacent ones become one: section 14.2.
    (0, 14, b"bytes=0-9,5-14"), (0, 1, b"bytes=0-0,1-1"), (0, 19, b"bytes=10-19,0-9"), (0, 9, b"bytes=0-9,0-9"),
    (0, 9, b"bytes=0-9,3-4"), (0, 29, b"bytes=20-29,0-9,10-19"), (601, 611, b"bytes=601-,-10"),
    (0, 611, b"bytes=0-305,306-"),
)]

UNITS = [case(part(0, 1), value, rfc="9110 14.1") for value in (b"Bytes=0-1", b"BYTES=0-1")]

IGNORED = [case(OK, value, rfc="9110 14.2") for value in (
    b"", b"bytes", b"bytes=", b"bytes=-", b"bytes=,", b"bytes=--1", b"bytes=0", b"bytes 0-1", b"bytes:0-1", b"0-1",
    b"bytes=5-4", b"bytes=0-0,5-4", b"bytes=9999-9998", b"bytes=0-1-2", b"bytes=0 -1", b"bytes=0- 1", b"bytes = 0-1",
    b"bytes=0-1;x", b"bytes=0-1 2-3", b"bytes=a-b", b"bytes=+0-1", b"bytes=0-+1", b"bytes=0x0-1", b"bytes=1.0-2",
    b"bytes=0-0,x", b"bytes=x,0-0", b"items=0-1", b"bytess=0-1", b"byte=0-1", b"none", b"bytes==0-1", b'"bytes=0-1"',
    b"bytes=\xb2-3", b"bytes=0-,0-", b"bytes=0-611,0-0", b"bytes=" + b"0-0," * 17,
    b"bytes=" + b",".join(b"%d-%d" % (at, at) for at in range(0, 34, 2)), b"bytes=" + b"0-," * 1000,
)]

UNSATISFIED = [case(none_of(612), value, rfc="9110 15.5.17") for value in (
    b"bytes=612-", b"bytes=612-700", b"bytes=9999-", b"bytes=-0", b"bytes=" + BEYOND + b"-", b"bytes=612-,700-",
    b"bytes=-0,9999-", b"bytes=18446744073709551615-", b"bytes=18446744073709551616-", b"bytes=612-612, 613-613")]

OTHERS = [
    *(case(none_of(0), value, EMPTY) for value in (b"bytes=0-", b"bytes=0-0", b"bytes=-0", b"bytes=1-")),
    *(case(Answer(200, b"", Content_Length="0"), value, EMPTY) for value in (b"bytes=-1", b"bytes=-9999", b"bytes=x")),
    case(HEAD_OK, b"bytes=0-0", method=b"HEAD", rfc="9110 14.2"),
    case(HEAD_OK, b"bytes=9999-", method=b"HEAD", rfc="9110 14.2"),
    case(Answer(405, Allow="GET, HEAD, OPTIONS"), b"bytes=0-0", method=b"POST", rfc="9110 14.2"),
    case(Answer(404), b"bytes=0-0", b"/no", rfc="9110 14.2"),
    case(Answer(301), b"bytes=0-0", b"/sub", rfc="9110 14.2"),
    Case("9110 5.3", "two Range lines", get(b"Range: bytes=0-0", b"Range: bytes=1-1"), OK),
    Case("9110 14.2", "Range in HTTP/1.0 that stays",
         get(b"Range: bytes=0-0", b"Connection: keep-alive", version=b"1.0"), part(0, 0)),
    case(part(65536, 65536, "64k-and-one.txt"), b"bytes=-1", LARGE),
    case(part(65530, 65536, "64k-and-one.txt"), b"bytes=65530-", LARGE),
    case(part(4095, 4097, "64k-and-one.txt"), b"bytes=4095-4097", LARGE),
    case(none_of(65537), b"bytes=65537-", LARGE),
    case(part(65535, 65535, "64k.txt"), b"bytes=65535-", b"/64k.txt"),
]

CASES = SATISFIED + UNITS + IGNORED + UNSATISFIED + OTHERS
