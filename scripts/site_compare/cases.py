"""What is asked of every URL: methods and fields, alone and combined.

A field's value may refer to what the server itself said of the URL: {etag} and {modified} are its validators, {opaque} the
entity tag without W/, {gzip_etag} that of its gzip form. Cases that refer to something the server has not said are left out.
"""

OLD = "Mon, 03 Jan 2000 10:00:00 GMT"
FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT"

ENCODINGS = [
    "identity", "gzip", "br", "zstd", "gzip, deflate, br, zstd", "gzip, deflate", "GZIP", "x-gzip", "deflate", "*", "", "compress",
    "gzip;q=0", "gzip; q=0.5, br;q=0.9", "gzip;q=1.0, br;q=0.5, zstd;q=0.1", "gzip;q=0.001", "gzip;q=0.000", "br;q=0, zstd;q=0, gzip",
    "*;q=0", "identity;q=0", "identity;q=0, gzip", "gzip;q=0.5, identity", "identity;q=0.5, gzip;q=0.8", "*;q=0.1, identity;q=0.5",
    "gzip;q=2", "gzip;q=abc", "gzip;;q=1", ",,gzip,", "notgzip", "gzip-like, br-like",
]
CONDITIONS = [
    {"If-None-Match": "{etag}"}, {"If-None-Match": "W/{opaque}"}, {"If-None-Match": "{opaque}"}, {"If-None-Match": '"wrong"'},
    {"If-None-Match": '"wrong", {etag}, "other"'}, {"If-None-Match": "*"}, {"If-None-Match": "wrong-unquoted"},
    {"If-Modified-Since": "{modified}"}, {"If-Modified-Since": OLD}, {"If-Modified-Since": FUTURE},
    {"If-Modified-Since": "yesterday"}, {"If-None-Match": '"wrong"', "If-Modified-Since": "{modified}"},
    {"If-None-Match": "{etag}", "If-Modified-Since": OLD},
    {"If-Match": "{etag}"}, {"If-Match": "W/{opaque}"}, {"If-Match": '"wrong"'}, {"If-Match": "*"}, {"If-Match": '"wrong", {etag}'},
    {"If-Unmodified-Since": "{modified}"}, {"If-Unmodified-Since": OLD}, {"If-Unmodified-Since": FUTURE},
    {"If-Match": "{etag}", "If-Unmodified-Since": OLD}, {"If-Match": "{etag}", "If-None-Match": "{etag}"},
]
RANGES = [
    "bytes=0-99", "bytes=0-0", "bytes=0-", "bytes=-50", "bytes=50-", "bytes=0-9,20-29", "bytes=0-0,-1", "bytes=0-99,50-149",
    "bytes=999999999-", "bytes=-0", "bytes=0-9,999999999-", "bytes=-999999999", "bytes=9-0", "bytes=abc", "bytes=", "items=0-9",
    "bytes=0-9, 20-29,40-49", "Bytes=0-9", "bytes=0-99999999999999999999", "bytes=0-9,0-9,0-9",
]
COMBINED = [
    {"Range": "bytes=0-99", "If-Range": "{etag}"}, {"Range": "bytes=0-99", "If-Range": '"wrong"'},
    {"Range": "bytes=0-99", "If-Range": "W/{opaque}"}, {"Range": "bytes=0-99", "If-Range": "{modified}"},
    {"Range": "bytes=0-99", "If-Range": OLD}, {"Range": "bytes=0-9,20-29", "If-Range": "{etag}"},
    {"Range": "bytes=0-99", "If-None-Match": "{etag}"}, {"Range": "bytes=0-99", "If-None-Match": '"wrong"'},
    {"Range": "bytes=0-99", "If-Match": '"wrong"'}, {"Range": "bytes=0-99", "Accept-Encoding": "gzip"},
    {"Range": "bytes=-50", "Accept-Encoding": "gzip, br, zstd"}, {"Range": "bytes=999999999-", "If-None-Match": "{etag}"},
    {"If-None-Match": "{etag}", "Accept-Encoding": "gzip"}, {"If-None-Match": "{gzip_etag}", "Accept-Encoding": "gzip"},
    {"If-None-Match": "{gzip_etag}"}, {"If-Range": "{etag}"},
    {"Range": "bytes=0-99", "If-Range": "{gzip_etag}", "Accept-Encoding": "gzip"},
]


def all_cases():
    """Every case as (method, fields)."""
    cases = [("GET", {"Accept-Encoding": value}) for value in ENCODINGS]
    cases += [("GET", fields) for fields in CONDITIONS]
    cases += [("GET", {"Range": value}) for value in RANGES]
    cases += [("GET", fields) for fields in COMBINED]
    cases += [("HEAD", {}), ("HEAD", {"Accept-Encoding": "gzip"}), ("HEAD", {"Range": "bytes=0-99"}),
              ("HEAD", {"If-None-Match": "{etag}"}), ("POST", {}), ("PUT", {}), ("DELETE", {}), ("OPTIONS", {})]
    return cases


class Validators:
    """What a server has said of a URL, for the cases that refer to it."""

    def __init__(self, plain, gzipped):
        etag, gzip_etag = plain.get("etag"), gzipped.get("etag")
        ok = plain.status == 200
        self.values = {"etag": etag if ok else None, "opaque": etag.removeprefix("W/") if ok and etag else None,
                       "modified": plain.get("last-modified") if ok else None,
                       "gzip_etag": gzip_etag if gzipped.status == 200 else None}

    def fill(self, fields):
        """The fields with values put in, or None where one is not known."""
        filled = {}
        for name, value in fields.items():
            for key, known in self.values.items():
                if "{" + key + "}" in value:
                    if known is None:
                        return None
                    value = value.replace("{" + key + "}", known)
            filled[name] = value
        return filled


def request_bytes(method, target, fields):
    head = [f"{name}: {value}\r\n" for name, value in fields.items()]
    body = "Content-Length: 0\r\n" if method in ("POST", "PUT") else ""
    return method.encode() + b" " + target + b" HTTP/1.1\r\nHost: localhost\r\n" + ("".join(head) + body).encode() + b"\r\n"
