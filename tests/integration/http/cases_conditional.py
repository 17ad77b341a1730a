"""Conditional requests for /hello.txt, unchanged since OLD_DATE: RFC 9110 section 13."""

from exchange_case import HEAD_OK, OK, OLD_DATE, Answer, Case, get

EQUAL = OLD_DATE.encode()
RFC850 = b"Sunday, 09-Sep-01 01:46:40 GMT"
ASCTIME = b"Sun Sep  9 01:46:40 2001"
LATER = b"Mon, 10 Sep 2001 01:46:40 GMT"
EARLIER = b"Sun, 09 Sep 2001 01:46:39 GMT"
SAME = Answer(304, b"", head=True, Last_Modified=OLD_DATE,
              absent=("Content-Length", "Content-Type", "Transfer-Encoding", "Content-Range"))
FAILED = 412
PART = Answer(206, b"0", Content_Range="bytes 0-0/612", Last_Modified=OLD_DATE)
MATCH, SINCE, RANGE = b"If-None-Match: ", b"If-Modified-Since: ", b"Range: bytes=0-0"


def case(rfc, answer, *lines, method=b"GET", target=b"/hello.txt"):
    asked = b"" if (method, target) == (b"GET", b"/hello.txt") else method + b" " + target + b"; "
    return Case(rfc, (asked + b"; ".join(lines)).decode("latin-1"), get(*lines, method=method, target=target), answer)


BAD_DATES = [
    b"", b"0", b"yesterday", b"1000000000", b"Sun, 09 Sep 2001 01:46:40", b"Sun, 09 Sep 2001 01:46:40 UTC",
    b"Sun, 09 Sep 2001 01:46:40 +0000", b"Sun, 09 Sep 2001 01:46:40 gmt", b"Sun, 9 Sep 2001 01:46:40 GMT",
    b"Sun, 09 Sep 2001 25:46:40 GMT", b"Sun, 32 Sep 2001 01:46:40 GMT", b"Sun, 09 Sept 2001 01:46:40 GMT",
    b"2001-09-09T01:46:40Z", b"09 Sep 2001 01:46:40 GMT", b"Sun, 09 Sep 2001 01:46:40 GMT; length=612",
    b"Sun, 09 Sep 2001 01:46:40 GMT, Sun, 09 Sep 2001 01:46:40 GMT", b"Sun, 30 Feb 2031 00:00:00 GMT",
]

NONE_MATCH = [
    *(case("9110 13.1.2", SAME, MATCH + tags) for tags in (
        b"ETAG", b"W/ETAG", b"*", b'"x", ETAG', b'ETAG, "x"', b'"x",W/ETAG,"y"', b'"a,b", ETAG', b",, ETAG ,,",
        b'x, ETAG', b'W/"x"\t,\tETAG', b'"\\", ETAG', b'"", ETAG', b'"\xe9", ETAG')),
    *(case("9110 13.1.2", OK, MATCH + tags) for tags in (
        b'"x"', b'W/"x"', b"x", b"", b",", b'"ETAG"', b"ETAGx", b'w/ETAG', b'W/ ETAG', b'"*"', b'"x", *', b"**",
        b'"', b'""', b'ETAG"y"')),
    case("9110 5.3", SAME, MATCH + b'"x"', b"X: y", MATCH + b"ETAG"),
    case("9110 5.3", SAME, MATCH + b"ETAG", MATCH + b'"x"'),
    case("9110 5.3", OK, MATCH + b'"x"', MATCH + b'"y"'),
    case("9110 13.1.2", SAME, MATCH + b"ETAG", method=b"HEAD"),
    case("9110 13.1.2", HEAD_OK, MATCH + b'"x"', method=b"HEAD"),
    case("9110 13.2.1", 404, MATCH + b"*", target=b"/no"),
    case("9110 13.2.1", 405, MATCH + b"*", method=b"PUT"),
    case("9110 13.2.1", 204, MATCH + b"*", method=b"OPTIONS"),
    case("9110 13.2.1", 301, MATCH + b"*", target=b"/sub"),
]

MODIFIED = [
    *(case("9110 13.1.3", SAME, SINCE + date) for date in (
        EQUAL, RFC850, ASCTIME, LATER, b"Fri, 31 Dec 2999 23:59:59 GMT")),
    *(case("9110 13.1.3", OK, SINCE + date) for date in (
        EARLIER, b"Thu, 01 Jan 1970 00:00:00 GMT", b"Sunday, 09-Sep-01 01:46:39 GMT", b"Sun Sep  9 01:46:39 2001")),
    *(case("9110 13.1.3", OK, SINCE + date) for date in BAD_DATES),
    case("9110 5.6.7", OK, SINCE + b"Wednesday, 09-Sep-95 01:46:40 GMT"),
    case("9110 5.3", OK, SINCE + EQUAL, SINCE + EQUAL),
    case("9110 13.1.3", SAME, SINCE + EQUAL, method=b"HEAD"),
    case("9110 13.1.3", 405, SINCE + EQUAL, method=b"POST"),
    case("9110 13.1.3", 404, SINCE + EQUAL, target=b"/no"),
    *(case("9110 13.1.4", OK, b"If-Unmodified-Since: " + date) for date in (EQUAL, RFC850, ASCTIME, LATER, *BAD_DATES)),
    case("9110 13.1.4", FAILED, b"If-Unmodified-Since: " + EARLIER),
    case("9110 13.1.4", Answer(FAILED, b"", head=True), b"If-Unmodified-Since: " + EARLIER, method=b"HEAD"),
    case("9110 13.2.1", 404, b"If-Unmodified-Since: " + EARLIER, target=b"/no"),
]

IF_MATCH = [
    *(case("9110 13.1.1", OK, b"If-Match: " + tags) for tags in (
        b"ETAG", b"*", b'"x", ETAG', b'ETAG,"x"', b', ETAG ,', b'W/ETAG, ETAG')),
    *(case("9110 13.1.1", FAILED, b"If-Match: " + tags) for tags in (
        b"W/ETAG", b'"x"', b'"x", "y"', b"x", b"", b'"*"', b'W/ETAG, "x"', b'"x", *')),
    case("9110 5.3", OK, b"If-Match: \"x\"", b"If-Match: ETAG"),
    case("9110 5.3", FAILED, b"If-Match: \"x\"", b"If-Match: \"y\""),
    case("9110 13.1.1", Answer(FAILED, b"", head=True), b'If-Match: "x"', method=b"HEAD"),
    case("9110 13.2.1", 404, b'If-Match: "x"', target=b"/no"),
    case("9110 13.2.1", 204, b'If-Match: "x"', method=b"OPTIONS"),
]

GOOD, BAD = b"If-Match: ETAG", b'If-Match: "x"'
UNCHANGED, CHANGED = b"If-Unmodified-Since: " + EQUAL, b"If-Unmodified-Since: " + EARLIER
KNOWN, UNKNOWN = MATCH + b"ETAG", MATCH + b'"x"'
FRESH, STALE = SINCE + EQUAL, SINCE + EARLIER
PRECEDENCE = [case("9110 13.2.2", answer, *lines) for answer, *lines in (
    (SAME, GOOD, KNOWN), (FAILED, BAD, KNOWN), (OK, GOOD, UNKNOWN), (FAILED, BAD, UNKNOWN),
    (OK, GOOD, CHANGED), (FAILED, BAD, UNCHANGED), (SAME, CHANGED, GOOD, FRESH), (FAILED, CHANGED, KNOWN),
    (FAILED, CHANGED, FRESH), (SAME, UNCHANGED, KNOWN), (SAME, UNCHANGED, FRESH), (OK, UNCHANGED, STALE),
    (OK, UNKNOWN, FRESH), (OK, FRESH, UNKNOWN), (SAME, KNOWN, STALE), (SAME, KNOWN, FRESH), (OK, UNKNOWN, STALE),
    (FAILED, BAD, UNCHANGED, KNOWN, FRESH), (SAME, GOOD, CHANGED, KNOWN, STALE), (OK, MATCH, FRESH),
    (SAME, KNOWN, RANGE), (SAME, FRESH, RANGE), (FAILED, BAD, RANGE), (FAILED, CHANGED, RANGE), (PART, GOOD, RANGE),
    (PART, UNKNOWN, RANGE), (PART, STALE, RANGE), (PART, UNCHANGED, RANGE),
    (SAME, KNOWN, RANGE, b'If-Range: "x"'), (FAILED, BAD, RANGE, b"If-Range: ETAG"),
    (PART, GOOD, UNKNOWN, RANGE, b"If-Range: ETAG"), (OK, GOOD, RANGE, b'If-Range: "x"'),
    (FAILED, BAD, b"Range: bytes=9999-"),
)]

IF_RANGE = [
    *(case("9110 13.1.5", PART, RANGE, b"If-Range: " + value) for value in (b"ETAG", b" ETAG\t", EQUAL, RFC850, ASCTIME)),
    *(case("9110 13.1.5", OK, RANGE, b"If-Range: " + value) for value in (
        b"W/ETAG", b'"x"', b"", b"*", b'ETAG, "x"', b"x", LATER, EARLIER, b"Sun, 09 Sep 2001 01:46:40")),
    case("9110 13.1.5", OK, RANGE, b"If-Range: ETAG", b"If-Range: ETAG"),
    case("9110 13.1.5", OK, b'If-Range: "x"'),
    case("9110 13.1.5", OK, b"If-Range: ETAG"),
    case("9110 13.1.5", OK, b"Range: bytes=9999-", b'If-Range: "x"'),
    case("9110 13.1.5", Answer(416, Content_Range="bytes */612"), b"Range: bytes=9999-", b"If-Range: ETAG"),
    case("9110 14.2", HEAD_OK, RANGE, b"If-Range: ETAG", method=b"HEAD"),
]

CASES = NONE_MATCH + MODIFIED + IF_MATCH + PRECEDENCE + IF_RANGE
