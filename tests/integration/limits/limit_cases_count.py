"""Requests at a time: what is asked while some downloads are under way."""


class Case:
    """`held` are targets of downloads that are begun and not read, `steps` what is asked meanwhile."""

    def __init__(self, name, site, held, steps, after=None, **fields):
        self.name, self.site, self.held, self.steps, self.after, self.fields = name, site, held, steps, after, fields


def at_most(most, **more):
    return {"connection_limit": {"max": most, **more}}


STATIC = {"path": "/", "static": {}}
OTHER = "127.0.0.2"

CASES = [
    Case("one at a time", at_most(1), ["/big"], [("/a", 503)], after=[("/a", 200)], Retry_After="1"),
    Case("two at a time", at_most(2), ["/big", "/big"], [("/a", 503), ("/big", 503)], after=[("/a", 200)]),
    Case("room for one more", at_most(2), ["/big"], [("/a", 200), ("/a", 200), ("/a", 200)]),
    Case("another address has its own", at_most(1), ["/big"], [("/a", 503), ("/a", 200, OTHER)]),
    Case("429", at_most(1, status=429), ["/big"], [("/a", 429)]),
    Case("a Retry-After of its own", at_most(1, retry_after_s=30), ["/big"], [("/a", 503)], Retry_After="30"),
    Case("no Retry-After", at_most(1, retry_after_s=0), ["/big"], [("/a", 503)], Retry_After=None),
    Case("dry_run", at_most(1, dry_run=True), ["/big"], [("/a", 200), ("/a", 200)]),
    Case("by path", at_most(1, key="{path}"), ["/big"], [("/a", 200), ("/big", 503)]),
    Case("by host all are one", at_most(1, key="{host}"), ["/big"], [("/a", 503), ("/a", 503, OTHER)]),
    Case("an empty key is not counted", at_most(1, key="{query.k}"), ["/big", "/big"], [("/a", 200), ("/a?k=1", 200)]),
    Case("routes count together below a site", {**at_most(1), "routes": [{"path": "/big", "static": {}}, STATIC]},
         ["/big"], [("/a", 503)]),
    Case("a route's own", {"routes": [{"path": "/big", "static": {}, **at_most(1)}, STATIC]}, ["/big"],
         [("/big", 503), ("/a", 200)]),
    Case("null takes it away",
         {**at_most(1), "routes": [{"path": "/a", "static": {}, "connection_limit": None}, STATIC]}, ["/big"],
         [("/a", 200), ("/b", 503)]),
    Case("places of a zone with limits of their own",
         {"routes": [{"path": "/big", "static": {}, **at_most(3, zone="z")}, {"path": "/a", "static": {}, **at_most(1, zone="z")}]},
         ["/big"], [("/a", 503), ("/big", 200)]),
    Case("beside a rate limit", {**at_most(1), "rate_limit": {"requests": 3, "per_s": 86400}}, ["/big"],
         [("/a", 503), ("/a", 503), ("/a", 429)]),
]
