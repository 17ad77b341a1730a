"""One case of the tables: a site of its own, and requests to it with the statuses that must come.

    Case("a burst, then no more", {"rate_limit": {"requests": 2, "per_s": 3600}}, [("/a", 200)] * 2 + [("/a", 429)])

`site` is laid over the site's object; its routes default to one that serves everything. A step is (target, status) or
(target, status, more), with `more` the arguments of raw_http.request, "method", or "source", the client's address.
Steps go over one connection per client address unless the case says fresh=True.
"""


class Case:
    def __init__(self, name, site, steps, fresh=False, retry_after=None):
        self.name, self.site, self.fresh = name, site, fresh
        self.steps = [(step[0], step[1], dict(step[2]) if len(step) > 2 else {}) for step in steps]
        self.retry_after = retry_after  # the values that the Retry-After of refused requests may have


def limited(requests=2, **more):
    """A rate limit that lets nobody on again while the tests run."""
    return {"rate_limit": {"requests": requests, "per_s": 86400, **more}}


def key(name, value):
    return {"fields": {name: value}}


OTHER = {"source": "127.0.0.2"}
