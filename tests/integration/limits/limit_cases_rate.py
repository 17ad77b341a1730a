"""Request rates."""

from limit_case import OTHER, Case, key, limited

STATIC = {"path": "/", "static": {}}
A, B, REFUSED = ("/a", 200), ("/b", 200), ("/a", 429)

CASES = [
    Case("as many at once as there are in the time", limited(3), [A, A, A, REFUSED, REFUSED]),
    Case("a smaller burst", limited(10, burst=2), [A, A, REFUSED]),
    Case("a larger burst", limited(1, burst=4), [A, A, A, A, REFUSED]),
    Case("a burst of one", limited(50, burst=1), [A, REFUSED]),
    Case("one connection or many", limited(2), [A, A, REFUSED], fresh=True),
    Case("Retry-After is in whole seconds", limited(1), [A, REFUSED], retry_after=range(86300, 86401)),
    Case("Retry-After of a share", limited(2, burst=1), [A, REFUSED], retry_after=range(43100, 43201)),
    Case("Retry-After is never 0", {"rate_limit": {"requests": 1, "per_s": 1, "burst": 1}},
         [A] + [("/a", {200, 429})] * 5, retry_after=[1]),
    Case("another status", limited(1, status=503), [A, ("/a", 503)]),
    Case("dry_run", limited(1, dry_run=True), [A] * 6),
    Case("dry_run off", limited(1, dry_run="off"), [A, REFUSED]),
    Case("another address has its own", limited(1), [A, REFUSED, ("/a", 200, OTHER), ("/a", 429, OTHER)]),
    Case("an unused limit changes nothing", limited(1_000_000), [A, B, ("/no", 404), ("/a", 200, {"method": "HEAD"})]),

    # what is counted
    Case("every path counts", limited(3), [A, B, ("/", 200), REFUSED]),
    Case("what is missing counts", limited(2), [("/no", 404), ("/no", 404), REFUSED, ("/no", 429)]),
    Case("HEAD counts", limited(2), [("/a", 200, {"method": "HEAD"})] * 2 + [("/a", 429, {"method": "HEAD"}), REFUSED]),
    Case("a method that is not allowed counts", limited(1), [("/a", 405, {"method": "DELETE"}), REFUSED]),
    Case("a body counts once", limited(2), [("/a", 405, {"method": "POST", "body": b"x" * 3000}), A, REFUSED]),
    Case("a refused body is read away", limited(1), [A, ("/a", 429, {"method": "POST", "body": b"x" * 3000}), REFUSED]),
    Case("ranges count", limited(2), [("/a", 206, key("Range", "bytes=0-0"))] * 2 + [REFUSED]),
    Case("redirects count", limited(1), [("/sub", 301), REFUSED]),
    Case("conditions count", limited(1), [("/a", 304, key("If-None-Match", "*")), REFUSED]),
    Case("what no route answers counts", {**limited(1), "routes": [{"path": "/a", "static": {}}]},
         [("/nothing", 404), ("/nothing", 429), REFUSED]),
    Case("OPTIONS * is nobody's", limited(1), [("*", 204, {"method": "OPTIONS"})] * 3 + [A, REFUSED]),

    # keys
    Case("by a field", limited(1, key="{header.x-key}"),
         [("/a", 200, key("X-Key", "1")), ("/a", 200, key("X-Key", "2")), ("/a", 429, key("x-key", "1")),
          ("/a", 429, key("X-KEY", "2"))]),
    Case("an empty key is not counted", limited(1, key="{header.x-key}"), [A, A, ("/a", 200, key("X-Key", "")), A]),
    Case("a key with text around is never empty", limited(1, key="k:{header.x-key}"), [A, REFUSED]),
    Case("by an argument", limited(1, key="{query.k}"),
         [("/a?k=1", 200), ("/a?k=2", 200), ("/a?k=1", 429), ("/a?x=0&k=%31", 429), ("/a", 200), ("/a", 200)]),
    Case("by a cookie", limited(1, key="{cookie.id}"),
         [("/a", 200, key("Cookie", "id=1")), ("/a", 429, key("Cookie", "x=y; id=1")), ("/a", 200, key("Cookie", "id=2"))]),
    Case("by path", limited(1, key="{path}"), [A, B, REFUSED, ("/b", 429), ("/%61", 429), ("/./a", 429)]),
    Case("by method", limited(1, key="{method}"), [A, ("/a", 200, {"method": "HEAD"}), REFUSED]),
    Case("by a fixed text all are one", limited(1, key="all"), [A, ("/a", 429, OTHER)]),
    Case("by address and path", limited(1, key="{client} {path}"),
         [A, B, ("/a", 200, OTHER), REFUSED, ("/a", 429, OTHER), ("/b", 200, OTHER)]),

    # places
    Case("routes below a site count together",
         {**limited(2), "routes": [{"path": "/a", "static": {}}, STATIC]}, [A, B, REFUSED, ("/b", 429)]),
    Case("a route's own wins whole",
         {**limited(1), "routes": [{"path": "/a", "static": {}, **limited(2)}, STATIC]},
         [A, A, REFUSED, B, ("/b", 429)]),
    Case("null takes it away",
         {**limited(1), "routes": [{"path": "/a", "static": {}, "rate_limit": None}, STATIC]}, [A, A, A, B, ("/b", 429), A]),
    Case("routes count apart",
         {"routes": [{"path": "/a", "static": {}, **limited(1)}, {"path": "/b", "static": {}, **limited(1)}]},
         [A, B, REFUSED, ("/b", 429)]),
    Case("routes of one zone count together",
         {"routes": [{"path": path, "static": {}, **limited(2, zone="both")} for path in ("/a", "/b")]},
         [A, B, REFUSED, ("/b", 429)]),
    Case("a zone may have several keys",
         {"routes": [{"path": "/a", "static": {}, **limited(1, zone="keys", key="{query.k}")},
                     {"path": "/b", "static": {}, **limited(1, zone="keys", key="{header.k}")}]},
         [("/a?k=1", 200), ("/b", 429, key("k", "1")), ("/b", 200, key("k", "2"))]),
    Case("few keys at a time", limited(1, max_keys=1, key="{query.k}"),
         [("/a?k=1", 200), ("/a?k=2", 200), ("/a?k=1", 429), ("/a?k=2", 429)]),
]
