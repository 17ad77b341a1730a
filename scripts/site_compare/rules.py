"""How two answers differ, and the reasons that are known for it."""

import collections
import email.utils
import re
import urllib.parse

MOST_SECONDS_APART = 30
OUR_ETAG = re.compile(r'(W/)?"[0-9a-f]+-[0-9a-f]+(-br|-zst|-gz)?"')
CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/\d+")
THEIR_ETAG = re.compile(r'(W/)?"[0-9a-f]+-[0-9a-f]+"')
# Ours and theirs. octet-stream is what nginx says of suffixes that its list does not have.
OCTETS = "application/octet-stream"
MEDIA_TYPES = {
    ("text/javascript; charset=utf-8", "application/javascript; charset=utf-8"), ("application/xml", "text/xml; charset=utf-8"),
    ("application/gzip", OCTETS), ("application/x-sh", OCTETS), ("text/csv; charset=utf-8", OCTETS),
    ("text/markdown; charset=utf-8", OCTETS), ("application/json", OCTETS), ("text/javascript; charset=utf-8", OCTETS),
    ("text/x-python; charset=utf-8", OCTETS), ("application/x-brotli", OCTETS), ("application/zstd", OCTETS),
}

Difference = collections.namedtuple("Difference", "what ours theirs")
# What was asked: the kind of URL, its target, the method and the fields. `forms` holds the whole bodies that we have sent for
# the URL, by Content-Encoding (None: as it is).
Asked = collections.namedtuple("Asked", "kind target method fields forms", defaults=({},))
Rule = collections.namedtuple("Rule", "name why explains")

RULES = []


def differences(ours, theirs):
    """Every difference between two responses. Where the statuses differ, all else follows from that."""
    if ours.status != theirs.status:
        return [Difference("status", ours.status, theirs.status)]
    found = []
    if ours.reason != theirs.reason:
        found.append(Difference("reason", ours.reason, theirs.reason))
    for name in sorted(ours.fields.keys() | theirs.fields.keys()):
        if ours.get(name) != theirs.get(name):
            found.append(Difference(name, ours.get(name), theirs.get(name)))
    if ours.body != theirs.body:
        found.append(Difference("body", ours.body, theirs.body))
    return found


def rule(name, why):
    """Makes a rule of a function (asked, difference, ours, theirs) -> whether this is the reason."""
    def register(explains):
        RULES.append(Rule(name, " ".join(why.split()), explains))
        return explains
    return register


def explain(asked, difference, ours, theirs):
    """The name of the first rule that explains a difference, or None."""
    for known in RULES:
        if known.explains(asked, difference, ours, theirs):
            return known.name
    return None


CODED = {"content-encoding", "content-length", "etag", "body", "accept-ranges", "content-range", "content-type"}


def quality(asked, coding):
    """The weight that Accept-Encoding gives a content coding, as RFC 9110 section 12.5.3 has it; None: it says nothing of it."""
    weights = {}
    for part in asked.fields.get("Accept-Encoding", "").split(","):
        name, _, parameter = part.partition(";")
        match = re.fullmatch(r"\s*q=(0(\.\d{0,3})?|1(\.0{0,3})?)\s*", parameter or "q=1")
        weights[name.strip().lower()] = float(match.group(1)) if match else None
    for name in (coding, "x-gzip" if coding == "gzip" else coding, "*"):
        if weights.get(name) is not None:
            return weights[name]
    return None


def is_right(asked, response):
    """Whether a body of ours is what the URL has in this coding, whole or in part."""
    whole = asked.forms.get(response.get("content-encoding"))
    if response.status == 200:
        return asked.method == "HEAD" or whole is None or response.body == whole
    if response.status == 206 and "content-range" in response.fields:
        return whole is None or response.body == whole[slice(*span(response.get("content-range")))]
    return response.status in (206, 304)


@rule("br and zstd", """Chosen here where the client takes them at least as gladly as gzip; nginx knows gzip alone.""")
def _(asked, difference, ours, theirs):
    coding = ours.get("content-encoding")
    if coding not in ("br", "zstd") or difference.what not in CODED or not quality(asked, coding):
        return False
    return quality(asked, coding) >= (quality(asked, "gzip") or 0) and is_right(asked, ours)


@rule("Accept-Encoding in full", """Here as in RFC 9110 section 12.5.3: "*" stands for gzip too, x-gzip is gzip, and "gzip;q=0.001" and
    "identity;q=0" mean what they say. nginx looks for the word gzip and a weight that is not 0.""")
def _(asked, difference, ours, theirs):
    ours_coding, their_coding = ours.get("content-encoding"), theirs.get("content-encoding")
    if (ours_coding, their_coding) != ("gzip", None) or difference.what not in CODED:
        return False
    return bool(quality(asked, "gzip")) and is_right(asked, ours)


@rule("identity preferred", "A client that weighs identity higher than gzip gets the file as it is.")
def _(asked, difference, ours, theirs):
    if (ours.get("content-encoding"), theirs.get("content-encoding")) != (None, "gzip") or difference.what not in CODED:
        return False
    identity = quality(asked, "identity")
    return (not quality(asked, "gzip") or (identity is not None and identity > quality(asked, "gzip"))) and is_right(asked, ours)


@rule("ranges of compressed files", "A compressed file beside its original has ranges of its own here; nginx sends it whole.")
def _(asked, difference, ours, theirs):
    if difference == Difference("accept-ranges", "bytes", None):
        return ours.get("content-encoding") is not None or theirs.get("content-encoding") is not None
    if "Range" not in asked.fields or theirs.get("content-encoding") != "gzip" or difference.what != "status":
        return False
    return (ours.status, theirs.status) in ((206, 200), (416, 200)) and is_right(asked, ours) or ours.status == 416


@rule("no form that is taken", "Where Accept-Encoding refuses identity and all that is there, 406 (RFC 9110 section 15.5.7).")
def _(asked, difference, ours, theirs):
    refused = quality(asked, "identity") == 0
    return refused and difference.what == "status" and ours.status == 406 and theirs.status in (200, 206, 304)


@rule("one ETag for two contents", """nginx gives a file and its gzip form each an ETag of its size and time, and checks If-None-Match and
    If-Range against the form it would send. Here as well, but br and zstd are other forms again.""")
def _(asked, difference, ours, theirs):
    refers = any("{gzip_etag}" in value or "{etag}" in value for value in asked.fields.values())
    return refers and "Accept-Encoding" in asked.fields and ours.get("content-encoding") in ("br", "zstd")


@rule("Vary", """Said here of every answer whose form depends on Accept-Encoding, 304 among them; nginx says it where it has looked
    for a compressed file.""")
def _(asked, difference, ours, theirs):
    return difference.what == "vary" and {difference.ours, difference.theirs} == {"Accept-Encoding", None}


@rule("Server", "Each names itself; `http.server_header` changes or removes it.")
def _(asked, difference, ours, theirs):
    return difference == Difference("server", "roost", "nginx")


@rule("Date", "The two were not asked in the same second.")
def _(asked, difference, ours, theirs):
    if difference.what != "date" or None in difference:
        return False
    seconds = [email.utils.parsedate_to_datetime(value).timestamp() for value in (difference.ours, difference.theirs)]
    return abs(seconds[0] - seconds[1]) <= MOST_SECONDS_APART


@rule("Connection: keep-alive", "nginx says it in every answer; in HTTP/1.1 it means nothing that is not so anyway (RFC 9112 section 9.3).")
def _(asked, difference, ours, theirs):
    return difference == Difference("connection", None, "keep-alive")


@rule("ETag format", """Here the time of the last change in nanoseconds and the size, there the time in seconds and the size:
    a second change within one second is another tag here, and the same one there. A compressed form has a tag that says so.""")
def _(asked, difference, ours, theirs):
    return (difference.what == "etag" and None not in difference and OUR_ETAG.fullmatch(difference.ours)
            and THEIR_ETAG.fullmatch(difference.theirs))


ERROR_BODY = {"body", "content-length", "content-type"}


@rule("error page", "Each has its own page for an error or a redirect; `error_pages` replaces it.")
def _(asked, difference, ours, theirs):
    if difference.what not in ERROR_BODY or not (ours.status >= 400 or ours.status in (301, 302)):
        return False
    return difference.what != "content-type" or (difference.ours, difference.theirs) == ("text/html; charset=utf-8", "text/html")


def statuses(difference, *pairs):
    return difference.what == "status" and (difference.ours, difference.theirs) in pairs


PHRASES = {405: ("Method Not Allowed", "Not Allowed"), 416: ("Range Not Satisfiable", "Requested Range Not Satisfiable"),
           302: ("Found", "Moved Temporarily")}


@rule("reason phrase", "Here the phrases of RFC 9110; nginx has some of older or other words.")
def _(asked, difference, ours, theirs):
    return difference.what == "reason" and PHRASES.get(ours.status) == (difference.ours, difference.theirs)


@rule("Allow", "RFC 9110 section 15.5.6: a 405 names the methods that are allowed.")
def _(asked, difference, ours, theirs):
    return difference == Difference("allow", "GET, HEAD, OPTIONS", None) and ours.status == 405


@rule("OPTIONS", "Answered here with the methods that are allowed.")
def _(asked, difference, ours, theirs):
    return asked.method == "OPTIONS" and statuses(difference, (204, 405), (204, 404), (204, 403), (204, 400))


@rule("method before file", "A method that no file answers is refused here whatever the path; nginx looks for the file first.")
def _(asked, difference, ours, theirs):
    return asked.method in ("POST", "PUT", "DELETE") and statuses(difference, (405, 404), (405, 301), (405, 403))


@rule("If-None-Match alone counts", """RFC 9110 section 13.1.3: If-Modified-Since is ignored where If-None-Match is there. nginx
    answers 304 only if both agree.""")
def _(asked, difference, ours, theirs):
    return {"If-None-Match", "If-Modified-Since"} <= asked.fields.keys() and statuses(difference, (304, 200))


@rule("If-Match alone counts", "RFC 9110 section 13.1.4: If-Unmodified-Since is ignored where If-Match is there. nginx checks both.")
def _(asked, difference, ours, theirs):
    return {"If-Match", "If-Unmodified-Since"} <= asked.fields.keys() and statuses(difference, (200, 412))


@rule("invalid Range", """RFC 9110 section 14.2 lets a server ignore or refuse a Range field that makes no sense. Here it is
    ignored, there it is refused.""")
def _(asked, difference, ours, theirs):
    return asked.fields.get("Range") in ("bytes=9-0", "bytes=abc", "bytes=") and statuses(difference, (200, 416))


@rule("last byte beyond any number", "A last byte beyond the end means the end, however large its number. nginx refuses 20 digits.")
def _(asked, difference, ours, theirs):
    return asked.fields.get("Range") == "bytes=0-99999999999999999999" and statuses(difference, (206, 416))


@rule("Range for GET alone", "RFC 9110 section 14.2: Range means something in a GET only. nginx answers 206 to HEAD too.")
def _(asked, difference, ours, theirs):
    return asked.method == "HEAD" and "Range" in asked.fields and statuses(difference, (200, 206), (200, 416))


@rule("names that begin with a dot", "Not shown here unless `dot_files` is on, but for /.well-known/ at the top.")
def _(asked, difference, ours, theirs):
    return b"/." in asked.target and difference.what == "status" and difference.ours == 404


@rule("media type", "nginx's list lacks it and its default stands in, or gives an older name for it.")
def _(asked, difference, ours, theirs):
    return difference.what == "content-type" and (difference.ours, difference.theirs) in MEDIA_TYPES


def multipart(value):
    return (value or "").startswith("multipart/byteranges; boundary=")


def parts(response):
    """The parts of a multipart answer: a list of (fields, bytes), or None where it is none."""
    boundary = response.get("content-type").partition("boundary=")[2].encode()
    pieces = (b"\r\n" * response.body.startswith(b"--") + response.body).split(b"\r\n--" + boundary)
    if pieces[0] != b"" or pieces[-1] != b"--\r\n":
        return None
    found = []
    for piece in pieces[1:-1]:
        head, gap, body = piece.partition(b"\r\n\r\n")
        fields = dict(line.decode().lower().split(": ", 1) for line in head.split("\r\n".encode()) if line)
        found.append((fields, body))
    return found


@rule("multipart boundary", "Each its own, and so another length; the parts are the same, byte for byte.")
def _(asked, difference, ours, theirs):
    if ours.status != 206 or difference.what not in ("body", "content-length", "content-type"):
        return False
    if not multipart(ours.get("content-type")) or not multipart(theirs.get("content-type")):
        return False
    here, there = parts(ours), parts(theirs)
    if here is None or there is None or len(here) != len(there):
        return False
    return all(mine[1] == other[1] and mine[0]["content-range"] == other[0]["content-range"] and
               (mine[0]["content-type"] == other[0]["content-type"] or
                (mine[0]["content-type"], other[0]["content-type"]) in MEDIA_TYPES) for mine, other in zip(here, there))


def span(content_range):
    """(first, last + 1) of "bytes 0-9/100"."""
    first, last = CONTENT_RANGE.fullmatch(content_range).groups()
    return int(first), int(last) + 1


@rule("overlapping ranges", """Ranges that overlap or touch are sent as one here (RFC 9110 section 15.3.7.2), each by itself
    there: asked for a byte many times, nginx sends it many times.""")
def _(asked, difference, ours, theirs):
    if ours.status != 206 or difference.what not in ("body", "content-length", "content-type", "content-range"):
        return False
    if "content-range" not in ours.fields or not multipart(theirs.get("content-type")):
        return False
    begin, end = span(ours.get("content-range"))
    joined = bytearray(end - begin)
    for fields, body in parts(theirs) or []:
        first, last = span(fields["content-range"])
        joined[first - begin:last - begin] = body
    return ours.body == joined


@rule("escaped slash", """"%2F" is refused here: whoever looks at the path before the server, a proxy or a filter, may take it for
    a part of a name and the server for a separator.""")
def _(asked, difference, ours, theirs):
    return b"%2f" in asked.target.lower() and difference.what == "status" and difference.ours == 400


@rule("fragment", """A "#" may not stand in a request (RFC 9112 section 3.2). nginx cuts it off.""")
def _(asked, difference, ours, theirs):
    return b"#" in asked.target and difference.what == "status" and difference.ours == 400


@rule("links out of the folder", """A symbolic link that leads out of the folder served is not followed unless `symlinks` is
    "follow".""")
def _(asked, difference, ours, theirs):
    return b"link-outside.txt" in urllib.parse.unquote_to_bytes(asked.target).lower() and difference.what == "status" and difference.ours == 404


@rule("bytes that need escaping", """A request's target is ASCII (RFC 3986 section 2): other bytes are sent percent-encoded, as every
    client does. nginx takes them as they are.""")
def _(asked, difference, ours, theirs):
    return any(byte > 126 for byte in asked.target) and difference.what == "status" and difference.ours == 400


@rule("escaped control characters", "Refused here, so that none reaches a log or a program behind; nginx looks for such a file.")
def _(asked, difference, ours, theirs):
    has = any(b"%%%02x" % byte in asked.target.lower() for byte in [*range(32), 127])
    return has and difference.what == "status" and difference.ours == 400


@rule("range of nothing", "No range of an empty file can be satisfied (RFC 9110 section 14.1.2). nginx answers 200.")
def _(asked, difference, ours, theirs):
    return "Range" in asked.fields and statuses(difference, (416, 200)) and theirs.get("content-length") == "0"
