"""headers, cache_control and security_headers."""

import re

from content_case import Case

GMT = re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")
NONE_MATCH = {"If-None-Match": "*"}
FOREVER = "public, max-age=31536000, immutable"
HTML = {"Accept": "text/html"}

HEADERS = [
    Case("set and append on a file", "/h/a.txt", 200, {
        "X-All": "yes", "X-Two": ["1", "2"], "X-Host": "localhost", "Vary": "X-Thing", "Cache-Control": "private"},
        absent=("Accept-Ranges", "X-Missing", "X-Empty", "X-Path")),
    Case("on HEAD", "/h/a.txt", 200, {"X-All": "yes", "X-Host": "localhost"}, method="HEAD"),
    Case("on a large file", "/h/big.bin", 200, {"X-All": "yes"}, absent=("Accept-Ranges",)),
    Case("on a range", "/h/a.txt", 206, {"X-All": "yes"}, send={"Range": "bytes=0-1"}, body=b"a "),
    Case("on 304", "/h/a.txt", 304, {"X-All": "yes", "X-Class": "4", "Vary": "X-Thing"}, absent=("X-Missing",),
         send=NONE_MATCH),
    Case("on 404", "/h/none", 404, {"X-All": "yes", "X-Missing": "yes", "X-Class": "4", "X-Host": "localhost"}),
    Case("on 405", "/h/a.txt", 405, {"X-All": "yes", "X-Class": "4", "Allow": "GET, HEAD, OPTIONS"}, method="PUT"),
    Case("on 416", "/h/a.txt", 416, {"X-Class": "4"}, send={"Range": "bytes=99-"}),
    Case("on a redirect", "/h/docs", 301, {"X-All": "yes", "Location": "/h/docs/"}),
    Case("on OPTIONS", "/h/a.txt", 204, {"X-All": "yes"}, method="OPTIONS"),
    Case("by name pattern", "/h/a.css", 200, {"X-Path": "yes", "X-All": "rule"}),
    Case("by path pattern", "/h/docs/intro.html", 200, {"X-Path": "yes"}),
    Case("Content-Type", "/h/a.js", 200, {"Content-Type": "text/plain", "X-Host": "fixed"}),
    Case("no Content-Type on 304", "/h/a.js", 304, absent=("Content-Type",), send=NONE_MATCH),
    Case("fixed values, kept ready", "/fixed/a.txt", 200, {"X-Fixed": "1", "Content-Type": "text/x-odd"}),
    Case("a part of the route's path", "/named/abc/a.txt", 200, {"X-One": "<abc> {}"}),
    Case("not where they are not said", "/a.txt", 200, absent=("X-All", "X-Fixed", "Vary", "Cache-Control")),
]

CACHE = [
    Case("fingerprint", "/c/app.0123abcd.js", 200, {"Cache-Control": FOREVER}, absent=("Expires",)),
    Case("fingerprint on 304", "/c/app.0123abcd.js", 304, {"Cache-Control": FOREVER}, send=NONE_MATCH),
    Case("fingerprint on 206", "/c/app.0123abcd.js", 206, {"Cache-Control": FOREVER}, send={"Range": "bytes=0-0"}),
    Case("a fingerprint that is not there", "/c/app.ffff0000a.js", 404, absent=("Cache-Control",)),
    Case("a version is no fingerprint", "/c/jquery-3.6.0.min.js", 200, {"Cache-Control": "max-age=3600"}),
    Case("by type", "/c/docs/intro.html", 200, {"Cache-Control": "no-cache"}),
    Case("by type, an index", "/c/", 200, {"Cache-Control": "no-cache"}),
    Case("by type on 304", "/c/docs/intro.html", 304, {"Cache-Control": "no-cache"}, absent=("Content-Type",), send=NONE_MATCH),
    Case("by extension with Expires", "/c/a.css", 200, {"Cache-Control": "max-age=3600", "Expires": GMT}),
    Case("by extension in another case", "/c/a.js", 200, {"Cache-Control": "max-age=3600", "Expires": GMT}),
    Case("Expires on 304", "/c/a.css", 304, {"Expires": GMT}, send=NONE_MATCH),
    Case("immutable by kind", "/c/logo.svg", 200, {"Cache-Control": "public, max-age=60, immutable"}),
    Case("by path", "/c/big.bin", 200, {"Cache-Control": "max-age=5"}),
    Case("by path on a status that is named", "/c/big.none", 404, {"Cache-Control": "max-age=5"}),
    Case("by path and class of status", "/c/x/missing", 404, {"Cache-Control": "max-age=1"}),
    Case("no rule", "/c/a.txt", 200, absent=("Cache-Control", "Expires")),
    Case("no rule for a redirect", "/c/docs", 301, absent=("Cache-Control",)),
    Case("static's own stands", "/own/a.txt", 200, {"Cache-Control": "max-age=7"}),
    Case("static's own is overruled", "/over/a.txt", 200, {"Cache-Control": "no-store"}),
    Case("static's own is overruled on 304", "/over/a.txt", 304, {"Cache-Control": "no-store"}, send=NONE_MATCH),
]

STRICT = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
          "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
          "Permissions-Policy": re.compile("camera=.*")}
SECURITY = [
    Case("basic", "/basic/a.txt", 200, {
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "strict-origin-when-cross-origin",
        "X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": "frame-ancestors 'self'"},
        absent=("Permissions-Policy", "Cross-Origin-Opener-Policy", "Strict-Transport-Security")),
    Case("basic on 404", "/basic/none", 404, {"X-Content-Type-Options": "nosniff"}),
    Case("strict, one changed and one left out", "/strict/a.txt", 200,
         {**STRICT, "Content-Security-Policy": re.compile("default-src 'self';.*")},
         absent=("X-Frame-Options", "Strict-Transport-Security", "Cross-Origin-Embedder-Policy")),
    Case("strict on 304", "/strict/a.txt", 304, STRICT, send=NONE_MATCH),
    Case("a listing's own policy stands", "/strict/bare/", 200,
         {**STRICT, "Content-Security-Policy": re.compile("default-src 'none';.*")}),
    Case("no promise over plain HTTP, whatever a client says", "/strict/a.txt", 200,
         absent=("Strict-Transport-Security",), send={"X-Forwarded-Proto": "https"}),
]

CASES = HEADERS + CACHE + SECURITY
