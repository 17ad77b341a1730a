"""try_files, fallback and listings."""

import re

from content_site import FILES
from content_case import Case

INDEX, INTRO, DOCS = FILES["index.html"], FILES["docs/intro.html"], FILES["docs/index.html"]
FOREVER = "public, max-age=31536000, immutable"
HTML, JSON = "text/html; charset=utf-8", "application/json"


def accepts(text):
    return {"Accept": text}


TRY = [
    Case("fallback: an address of the application", "/spa/users/7", 200, {"Cache-Control": "no-cache"}, body=INDEX),
    Case("fallback: deeper than there are folders", "/spa/a/b/c/d", 200, body=INDEX),
    Case("fallback: the index itself", "/spa/", 200, {"Cache-Control": "no-cache"}, body=INDEX),
    Case("fallback: a file that is there", "/spa/app.0123abcd.js", 200, {"Cache-Control": FOREVER}, body=FILES["app.0123abcd.js"]),
    Case("fallback: a file that is not there is no fingerprint", "/spa/app.0123abce.js", 200, {"Cache-Control": "no-cache"}, body=INDEX),
    Case("fallback: a folder", "/spa/docs/", 200, body=DOCS),
    Case("fallback: a folder without its slash", "/spa/docs", 301, {"Location": "/spa/docs/"}),
    Case("fallback: a folder without index", "/spa/bare/", 200, body=INDEX),
    Case("fallback: what is hidden stays so", "/spa/.secret", 200, body=INDEX),
    Case("fallback: HEAD", "/spa/users", 200, {"Content-Length": str(len(INDEX))}, method="HEAD"),
    Case("fallback: a range", "/spa/users", 206, send={"Range": "bytes=0-6"}, body=INDEX[:7]),
    Case("fallback: unchanged", "/spa/users", 304, send={"If-None-Match": "*"}),
    Case("fallback: another method", "/spa/users", 405, method="POST"),
    Case("try: the file", "/try/a.txt", 200, body=FILES["a.txt"]),
    Case("try: with an extension", "/try/docs/intro", 200, body=INTRO),
    Case("try: an index", "/try/docs/", 200, body=DOCS),
    Case("try: a folder without its slash", "/try/docs?x=1", 301, {"Location": "/try/docs/?x=1"}),
    Case("try: under another name", "/try/intro", 200, body=INTRO),
    Case("try: nothing", "/try/none", 410),
    Case("try: a folder without index", "/try/bare/", 410),
    Case("try: the last one missing too", "/last/none", 404),
    Case("try: the large file", "/try/big", 410),
    Case("try: a large file", "/last/big.bin", 200, body=FILES["big.bin"]),
]

LISTING = [
    Case("a listing", "/list/bare/", 200, {
        "Content-Type": HTML, "Cache-Control": "no-cache", "Vary": "Accept", "ETag": re.compile('W/"[0-9a-f]{16}"')}),
    Case("an index wins", "/list/docs/", 200, body=DOCS),
    Case("a folder without its slash", "/list/bare", 301, {"Location": "/list/bare/"}),
    Case("HEAD", "/list/bare/", 200, {"Content-Length": re.compile("[0-9]{4}")}, method="HEAD", body=b""),
    Case("another method", "/list/bare/", 405, {"Allow": "GET, HEAD, OPTIONS"}, method="DELETE"),
    Case("nothing there", "/list/none/", 404),
    Case("not where it is not said", "/bare/", 403),
    Case("hidden", "/list/.secret", 404),
    *(Case(f"as HTML for {accept}", "/list/bare/", 200, {"Content-Type": HTML}, send=accepts(accept)) for accept in (
        "", "*/*", "text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json;q=0.5, text/html",
        "application/json;q=0", "image/png", "application/json, text/html", "text/*, application/json")),
    *(Case(f"as JSON for {accept}", "/list/bare/", 200, {"Content-Type": JSON}, send=accepts(accept)) for accept in (
        "application/json", "application/*", "APPLICATION/JSON", "application/json, text/html;q=0.9",
        "text/html;q=0.1, */*", "application/json;version=2", "*/*, text/html;q=0")),
    Case("the query wins: JSON", "/list/bare/?format=json", 200, {"Content-Type": JSON}, send=accepts("text/html")),
    Case("the query wins: HTML", "/list/bare/?format=html", 200, {"Content-Type": HTML}, send=accepts("application/json")),
    Case("a query that means nothing", "/list/bare/?format=xml&sort=&order=up&x", 200, {"Content-Type": HTML}),
]

CASES = TRY + LISTING
